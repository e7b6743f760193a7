"""What each part of the model and each result adds to a prediction, in Python, in the table and on the page."""

import pytest
from rdkit import Chem
from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator
from rdkit.DataStructs import TanimotoSimilarity
from support.molecules import some_molecules

from agents.molecule import mask_atoms
from graph_bandit_campaign import Campaign, Goal
from graph_bandit_campaign.model.explanations import nearest_measured, score_atoms

MOLECULES = some_molecules(22)
KNOWN = dict(zip(MOLECULES.ids[:9], MOLECULES.targets.tolist(), strict=False))


def begin(agent=None, maximize=True, sign=1):
    campaign = Campaign(MOLECULES, agent, maximize=maximize)
    campaign.tell({name: sign * value for name, value in KNOWN.items()})
    return campaign


def test_parts_and_pulls_are_the_largest_first_and_add_up_to_the_score():
    explanations = begin().explain(MOLECULES.ids)
    assert list(explanations) == list(MOLECULES.ids)
    for explanation in explanations.values():
        assert set(explanation.contributions) == set(KNOWN)
        assert sum(explanation.contributions.values()) == pytest.approx(explanation.score)
        for terms in (explanation.parts, explanation.contributions):
            sizes = list(map(abs, terms.values()))
            assert sizes == sorted(sizes, reverse=True)
    predicted = begin().predict()
    in_order = sorted(MOLECULES.ids, key=lambda name: explanations[name].score)
    assert predicted[in_order[-1]].mean > predicted[in_order[0]].mean


def test_a_larger_score_is_better_if_small_values_are_wanted_too():
    large, small = begin().explain(MOLECULES.ids[-3:]), begin(maximize=False, sign=-1).explain(MOLECULES.ids[-3:])
    assert small == large


def test_there_are_none_before_two_results_differ():
    campaign = Campaign(MOLECULES)
    assert campaign.explain(MOLECULES.ids[:2]) == {}
    campaign.tell(dict.fromkeys(MOLECULES.ids[:4], 1.0))
    assert campaign.explain(MOLECULES.ids[:2]) == {}


def test_each_of_several_goals_has_its_own():
    campaign = Campaign(MOLECULES, goals=[Goal("logp"), Goal("cost", "minimize")])
    campaign.tell(KNOWN, goal="logp")
    campaign.tell({name: -value for name, value in KNOWN.items()}, goal="cost")
    ids = MOLECULES.ids[-3:]
    assert campaign.explain(ids, "logp") == campaign.explain(ids, "cost")
    assert campaign.explain(ids, "logp").keys() == set(ids)
    assert campaign.explain(ids) == campaign.explain(ids, "logp")
    with pytest.raises(ValueError, match="tpsa"):
        campaign.explain(ids, "tpsa")


def test_atoms_add_what_the_score_loses_without_them():
    campaign, other = begin("molecule-ucb"), MOLECULES.ids[20]
    rater = campaign.model().rater()
    scores = score_atoms(campaign.model(), MOLECULES.smiles[20])
    means = rater(mask_atoms(MOLECULES.smiles[20], rater.descriptors.names)).mean
    assert scores == pytest.approx(tuple(means[0] - means[1:]))
    assert means[0] == pytest.approx(campaign.explain([other])[other].score, abs=1e-6)
    assert max(map(abs, scores)) > 0.01


def test_the_nearest_are_those_of_largest_similarity():
    generator, smiles = GetAtomPairGenerator(fpSize=4096), dict(zip(MOLECULES.ids, MOLECULES.smiles, strict=True))
    prints = {name: generator.GetCountFingerprint(Chem.MolFromSmiles(text)) for name, text in smiles.items()}
    other, *_ = (name for name in MOLECULES.ids if name not in KNOWN)
    (found,) = nearest_measured([other], KNOWN, smiles, 3).values()
    best = sorted(KNOWN, key=lambda name: -TanimotoSimilarity(prints[other], prints[name]))[:3]
    assert [(neighbour.id, neighbour.value) for neighbour in found] == [(name, KNOWN[name]) for name in best]
