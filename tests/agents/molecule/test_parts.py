from dataclasses import replace

import numpy as np
import pytest
import torch
from support.molecules import ODD_MOLECULES

from agents.descriptors import Scales, compute_descriptors
from agents.molecule.fingerprints import Fingerprint
from agents.molecule.parts import WEIGHTS, MoleculeSettings, make_parts

SMILES = (*ODD_MOLECULES, "CCCO")
EVERY = torch.arange(len(SMILES))
DESCRIPTORS = compute_descriptors(SMILES)
ENCODED = replace(
    DESCRIPTORS, numbers={**DESCRIPTORS.numbers, "mine": np.random.default_rng(1).normal(size=(len(SMILES), 5))}
)
NONE = {f"{name}_weight": 0.0 for name in WEIGHTS}


def whole(kernels):
    return kernels.columns(EVERY, EVERY).transpose(0, 1)


def test_each_weight_has_parts_of_its_own():
    columns = np.random.default_rng(0).normal(size=(len(SMILES), 2))
    names = {}
    for name in NONE:
        _, parts = make_parts(MoleculeSettings(**{**NONE, name: 0.3}), ENCODED, columns)
        assert sum(part.weight for part in parts) == pytest.approx(1)
        (names[name],) = {part.name for part in parts}
    assert len(set(names.values())) == len(WEIGHTS)
    _, together = make_parts(MoleculeSettings(), ENCODED, columns)
    assert {part.name for part in together} == {*names.values()}


def test_weights_are_shares_and_parts_of_one_name_share_theirs():
    settings = MoleculeSettings(**{**NONE, "pairs_weight": 3.0, "properties_weight": 1.0})
    kernels, parts = make_parts(settings, DESCRIPTORS)
    assert [part.weight for part in parts] == pytest.approx([0.75, 0.075, 0.075, 0.1])
    pairs, wide, narrow, trend = whole(kernels)
    numbers = DESCRIPTORS.numbers["properties"].astype(np.float64)
    points = np.nan_to_num((numbers - np.nanmean(numbers, 0)) / np.nanstd(numbers, 0)).clip(-5, 5)
    points = np.insert(points / points.shape[1] ** 0.5, 0, 1.0, axis=1)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    np.testing.assert_allclose(trend, points @ points.T, atol=1e-5)
    torch.testing.assert_close(pairs, Fingerprint("", DESCRIPTORS.counts["atom_pairs"]).columns(EVERY, EVERY)[0])
    torch.testing.assert_close(wide.log() * (2.0 / 0.7) ** 2, narrow.log())


def test_every_part_is_one_on_its_diagonal():
    kernels, _ = make_parts(MoleculeSettings(), DESCRIPTORS, np.arange(len(SMILES))[:, None] * 1e6)
    torch.testing.assert_close(whole(kernels).diagonal(dim1=1, dim2=2), kernels.diagonals)
    torch.testing.assert_close(kernels.diagonals, torch.ones_like(kernels.diagonals))


def test_descriptors_that_were_left_out_on_purpose_have_no_part_and_the_others_share_the_weight():
    names = ["atom_pairs", "properties"]
    lean = compute_descriptors(SMILES, names, left_out=["ecfp", "torsions", "fcfp", "rdkit"])
    _, parts = make_parts(MoleculeSettings(pairs_weight=3, properties_weight=1), lean)
    assert [(part.name, part.weight) for part in parts] == [
        ("atom pairs", 0.75),
        *[("properties", pytest.approx(0.075))] * 2,
        ("properties", pytest.approx(0.1)),
    ]


def test_parts_of_some_molecules_on_the_scales_of_all_are_those_of_all():
    columns, some = np.random.default_rng(0).normal(size=(len(SMILES), 2)), torch.tensor([6, 1, 3])
    scales = Scales.of(DESCRIPTORS, columns)
    found, expected = (
        make_parts(MoleculeSettings(), *given)
        for given in ((DESCRIPTORS.take(some), columns[some], scales), (DESCRIPTORS, columns))
    )
    assert found[1] == expected[1]
    first = torch.arange(3)
    torch.testing.assert_close(found[0].columns(first, first), expected[0].columns(some, some))


def test_refuses_to_compare_by_nothing():
    with pytest.raises(ValueError, match="at least one of the weights"):
        MoleculeSettings(**NONE)
    with pytest.raises(ValueError, match="Expected something to compare molecules by"):
        make_parts(MoleculeSettings(**{**NONE, "columns_weight": 1.0}), DESCRIPTORS, np.ones((len(SMILES), 1)))
