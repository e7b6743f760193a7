"""Actions are compared slot by slot: the kernel as its formula says, and what it learns."""

import numpy as np
import pytest
import torch

import registry
from agents.process.parts.slots import Actions, similarities
from graph_bandit_env import from_slots
from graph_bandit_env.pools import GraphPool, Slot, SlotSet


def random_actions(seed, count=12):
    generator = np.random.default_rng(seed)
    graphs = GraphPool(
        [generator.normal(size=(n, 2)) for n in (1, 2, 3, 3)], [[[k, k] for k in range(n)] for n in (1, 2, 3, 3)]
    )
    slots = [
        Slot("graph", "structure", (*graphs.ids, ""), graphs),
        Slot("word", "category", ("a", "b", "c")),
        Slot("number", "number", (0.0, 1.0, 5.0)),
        Slot("same", "category", ("x",)),
    ]
    sizes = [len(slot.choices) for slot in slots]
    return SlotSet(slots, np.stack(np.unravel_index(generator.permutation(np.prod(sizes))[:count], sizes), axis=1))


@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_is_the_sum_over_sets_of_slots_whose_weights_are_learnt_together(seed):
    actions = random_actions(seed)
    agent = registry.make_agent("gp-ucb")
    agent.reset(None, graph_set=actions)
    slots = [0.5 * np.eye(len(s.choices)) + 0.5 * similarities(s).numpy() for s in actions.slots[:3]]
    every = torch.arange(12)
    columns = agent.described.kernels.columns(every, every)
    terms = {"graph": [0], "word": [1], "number": [2], "graph x word": [0, 1], "graph x number": [0, 2]}
    terms |= {"word x number": [1, 2], "graph x word x number": [0, 1, 2]}
    found = {part.name: columns[:, k].numpy() for k, part in enumerate(agent.described.parts)}
    assert found.keys() == {*terms, "the experiment itself"}
    for name, of in terms.items():
        expected = [[np.prod([slots[k][a[k], b[k]] for k in of]) for b in actions.places] for a in actions.places]
        assert np.allclose(found[name], expected)
        assert np.linalg.eigvalsh(found[name])[0] > -1e-9
    assert np.isclose(sum(part.weight * part.typical for part in agent.described.parts), 1)
    agent.update(None, range(12), actions.places @ [3.0, 1.0, 0.5, 0.0])
    learnt = zip(agent.described.parts, agent.learnt.weights, strict=True)
    far = {part.name: np.log(weight / part.weight) for part, weight in learnt}
    assert far["graph x word"] - far["graph"] == pytest.approx(far["word x number"] - far["number"])
    assert far["graph x word x number"] - far["graph x word"] == pytest.approx(far["word x number"] - far["word"])
    assert abs(far["graph x word"] - far["graph"]) > 1e-3


def test_an_empty_choice_is_like_no_other_and_close_numbers_are_alike():
    actions = random_actions(0)
    graph, _, number = (similarities(slot).numpy() for slot in actions.slots[:3])
    assert graph[-1].tolist() == [0, 0, 0, 0, 1]
    assert number[0, 1] > 10 * number[0, 2]


def test_molecules_in_slots_teach_by_their_likes():
    pytest.importorskip("rdkit")
    chains, rings = [f"{'C' * k}O" for k in range(3, 9)], [f"c1ccccc1{'C' * k}N" for k in range(1, 7)]
    names = [(one, heat) for one in (*chains, *rings) for heat in (20, 60)]
    actions = from_slots({"base": [one for one, _ in names], "heat": [heat for _, heat in names]}, ["base"])
    values = np.array([1.0 * (one in rings) + heat / 100 for one, heat in names])
    agent = registry.make_agent("gp-ucb")
    agent.reset(None, graph_set=actions)
    known = [k for k, (one, _) in enumerate(names) if one not in (chains[2], rings[2])]
    agent.update(None, known, values[known])
    new = [k for k in range(len(names)) if k not in known]
    assert np.abs(agent.predict().mean[new] - values[new]).max() < 0.2


def test_other_graphs_than_those_of_reset_are_refused():
    actions = random_actions(1)
    agent = registry.make_agent("gp-ucb")
    agent.reset(tuple(actions), graph_set=actions)
    agent.select_action(tuple(actions))
    with pytest.raises(ValueError, match="actions of `reset`"):
        agent.select_action(tuple(random_actions(2)))


def test_describing_them_twice_gives_equal_actions():
    actions = random_actions(3)
    one, two = Actions.of(actions), Actions.of(actions)
    assert torch.equal(one.places, two.places)
    assert all(torch.equal(a, b) for a, b in zip(one.kernels, two.kernels, strict=True))
