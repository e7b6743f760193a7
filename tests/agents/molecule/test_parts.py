import numpy as np
import pytest
import torch
from support.molecules import ODD_MOLECULES

from agents.molecule.descriptors import compute_properties
from agents.molecule.fingerprints import FingerprintCounts, read_molecules
from agents.molecule.numbers import GaussianKernel, standardise
from agents.molecule.parts import make_parts
from agents.molecule.settings import WEIGHTS, MoleculeSettings

SMILES = (*ODD_MOLECULES, "CCCO")
EVERY = torch.arange(len(SMILES))
MOLS = read_molecules(SMILES)
NONE = {f"{name}_weight": 0.0 for name in WEIGHTS}


def whole(part):
    return part.kernel.columns(EVERY, EVERY)


def test_each_weight_has_parts_of_its_own():
    columns = np.random.default_rng(0).normal(size=(len(SMILES), 2))
    names = {}
    for name in NONE:
        parts = make_parts(MoleculeSettings(**{**NONE, name: 0.3}), SMILES, columns)
        assert sum(part.weight for part in parts) == pytest.approx(1)
        (names[name],) = {part.name for part in parts}
    assert len(set(names.values())) == len(WEIGHTS)
    together = make_parts(MoleculeSettings(), SMILES, columns)
    assert list(dict.fromkeys(part.name for part in together)) == list(names.values())


def test_weights_are_shares_and_parts_of_one_name_share_theirs():
    settings = MoleculeSettings(**{**NONE, "pairs_weight": 3.0, "properties_weight": 1.0})
    pairs, wide, narrow = make_parts(settings, SMILES)
    assert (pairs.weight, wide.weight, narrow.weight) == (0.75, 0.125, 0.125)
    torch.testing.assert_close(whole(pairs), FingerprintCounts(MOLS, "atom_pairs").columns(EVERY, EVERY))
    points = standardise(compute_properties(MOLS))
    torch.testing.assert_close(whole(wide), GaussianKernel(points, 2.0).columns(EVERY, EVERY))
    torch.testing.assert_close(whole(narrow), GaussianKernel(points, 0.7).columns(EVERY, EVERY))


def test_without_columns_their_weight_does_not_matter():
    some, more = (make_parts(MoleculeSettings(columns_weight=weight), SMILES) for weight in (0.1, 5.0))
    assert [part.weight for part in some] == [part.weight for part in more]


def test_every_part_is_one_on_its_diagonal():
    for part in make_parts(MoleculeSettings(), SMILES, np.arange(len(SMILES))[:, None] * 1e6):
        diagonal = part.kernel.diagonal(EVERY)
        torch.testing.assert_close(whole(part).diagonal(), diagonal)
        torch.testing.assert_close(diagonal, torch.ones_like(diagonal))


def test_molecules_read_in_blocks_are_those_read_at_once(monkeypatch):
    expected = make_parts(MoleculeSettings(), SMILES)
    monkeypatch.setattr("agents.molecule.parts.AT_A_TIME", 3)
    for part, other in zip(make_parts(MoleculeSettings(), SMILES), expected, strict=True):
        assert torch.equal(whole(part), whole(other))


def test_refuses_to_compare_by_nothing():
    with pytest.raises(ValueError, match="at least one of the weights"):
        MoleculeSettings(**NONE)
    with pytest.raises(ValueError, match="Expected something to compare molecules by"):
        make_parts(MoleculeSettings(**{**NONE, "columns_weight": 1.0}), SMILES, np.ones((len(SMILES), 1)))


@pytest.mark.parametrize("name", ["tangent_weight", "steps", "descriptor_weight"])
def test_settings_of_the_network_are_refused_with_what_to_do(name):
    import registry

    with pytest.raises(ValueError, match=f"`{name}` is no longer a setting"):
        registry.make_agent("molecule-ucb", **{name: 0.5})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"torsions_weight": -1.0}, "`torsions_weight`"),
        ({"morgan_weight": float("inf")}, "`morgan_weight`"),
        ({"weight_spread": 0}, "`weight_spread` to be positive"),
        ({"noise_variance": 0, "warp": "none"}, "`noise_variance` to be positive"),
        ({"noise_variance": 0.1}, "`noise_variance` to be None with `warp`"),
        ({"short_list": 0}, "`short_list`"),
    ],
)
def test_refuses_settings_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        MoleculeSettings(**settings)
