"""Actions of several parts are disjoint unions of them, in one order, with slots among the features of nodes."""

import pickle

import numpy as np
import pytest

import registry
from graph_bandit_env import from_slots
from graph_bandit_env.files import digest, read_pool
from graph_bandit_env.pools import GraphPool, Slot, SlotSet
from graph_bandit_lab import run_bandit

SOLVENTS = ["water", "", "dmf", "water", "dmf", "water"]
HEAT = [20, 20, 80.5, 80.5, 20, 60]


def ragged_slots(generator, edge_features):
    """Return a slot of random graphs, one of words and one of numbers."""
    count = int(generator.integers(2, 6))
    sizes = generator.integers(1, 5, count)
    links = [np.array([(a, b) for a in range(n) for b in range(n) if abs(a - b) == 1]).reshape(-1, 2) for n in sizes]
    edges = [generator.normal(size=(len(each), 2)) for each in links] if edge_features else None
    graphs = GraphPool([generator.normal(size=(n, 3)) for n in sizes], links, edges)
    return [
        Slot("graph", "structure", (*graphs.ids, ""), graphs),
        Slot("word", "category", ("a", "", "c")),
        Slot("number", "number", (1.0, 2.0, 4.0)),
    ]


@pytest.mark.parametrize("seed", range(6))
def test_an_action_is_the_disjoint_union_of_its_parts(seed):
    generator = np.random.default_rng(seed)
    slots = ragged_slots(generator, seed % 2)
    sizes = [len(slot.choices) for slot in slots]
    every = np.stack(np.unravel_index(generator.permutation(np.prod(sizes))[:9], sizes), axis=1)
    actions = SlotSet(slots, every)
    scaled = (np.array([1, 2, 4]) - 7 / 3) / np.std([1, 2, 4])
    for action, (graph, word, number) in zip(actions, every.tolist(), strict=True):
        is_there = slots[0].choices[graph] != ""
        own = slots[0].graphs[graph] if is_there else None
        size = 1 if own is None else len(own.nodes)
        assert action.nodes[:, :3].argmax(1).tolist() == [0] * size + [1, 2]
        assert (action.nodes[:, :3].sum(1) == 1).all()
        assert np.allclose(action.nodes[:size, 3:6], 0 if own is None else own.nodes)
        assert action.nodes[size, 6:9].tolist() == np.eye(3)[word].tolist()
        assert np.isclose(action.nodes[size + 1, 9], scaled[number])
        assert np.count_nonzero(action.nodes[:, 6:]) == 1 + (scaled[number] != 0)
        links = np.zeros((0, 2)) if own is None else own.edge_links
        assert action.edge_links.tolist() == links.tolist()
        if seed % 2 and own is not None:
            assert np.array_equal(action.edges, own.edges)
    some = actions.take([4, 1])
    assert [some.parts_of(k) for k in (0, 1)] == [actions.parts_of(k) for k in (4, 1)]
    assert digest(pickle.loads(pickle.dumps(actions)).take([4, 1])) == digest(some)
    assert digest(some) != digest(GraphPool.from_graph_set(some, some.ids))  # which `gp-` does not compare by slots


def test_columns_of_a_table_are_slots():
    pytest.importorskip("rdkit")
    smiles = ["CCO", "OCC", None, "c1ccccc1", "CCO", "c1ccccc1"]
    heat = [np.float32(HEAT[0]), np.int64(HEAT[1]), *HEAT[2:]]
    actions = from_slots({"base": smiles, "solvent": SOLVENTS, "heat": heat}, ["base"], targets=range(6))
    base, solvent, heat = actions.slots
    assert [slot.kind for slot in actions.slots] == ["structure", "category", "number"]
    assert (base.choices, solvent.choices, heat.choices) == (
        ("CCO", "", "c1ccccc1"),
        ("water", "", "dmf"),
        (20.0, 60.0, 80.5),
    )
    assert actions.parts_of(1) == ("CCO", "", 20.0)
    assert actions.parts_of(2) == ("", "dmf", 80.5)
    assert repr(actions) == "SlotSet(6 actions, slots base (3), solvent (3), heat (3), 6 measured)"


WRONG = {
    "`x` is there 2 times": lambda: from_slots({"a": ["x", "x ", "y"]}),
    "finite number": lambda: from_slots({"a": [1.0, float("nan")]}),
    "each cell of `t`": lambda: from_slots({"a": ["x", "y", "z"], "t": [np.int64(20), None, 60]}),
    "no `b`": lambda: from_slots({"a": ["x", "y"]}, ["b"]),
    "shape": lambda: SlotSet([Slot("a", "category", ("x",))], [[0, 0]]),
    "names": lambda: SlotSet([Slot("a", "category", ("x", "y"))], [[0], [2]]),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_no_set_of_actions_is_refused(message):
    with pytest.raises(ValueError, match=message):
        WRONG[message]()


@pytest.mark.parametrize("name", ["gp-ucb", "gnn-ts", "gntk-ucb", "lin-ucb", "wl-ei"])
def test_agents_that_know_slots_and_others_find_the_best_action(name):
    words = [(a, b, t) for a in "uvwx" for b in "pqr" for t in (1, 2, 3)]
    names, others, numbers = zip(*words, strict=True)
    means = [3.0 * (a == "w") + (b == "q") - (t - 2) ** 2 for a, b, t in words]
    actions = from_slots({"a": names, "b": others, "t": numbers}, targets=means)
    env = registry.make_environment(
        graphs=actions, reward_model=actions.targets, noise_std=0.1, observe="indices", horizon=60
    )
    result = run_bandit(env, registry.make_agent(name), seed=0)
    assert result.regret[-20:].mean() < 0.5  # 3.6 at random


def test_a_context_is_drawn_each_round_and_regret_is_to_its_best_action():
    actions, means = from_slots({"base": [*"aabbc"], "heat": [1, 2, 1, 2, 1]}), np.array([0, 5, 1, 2, 7.0])
    kept = {"graphs": actions, "reward_model": means, "noise_std": 0.0, "horizon": 40, "observe": "indices"}
    env = registry.make_environment(**kept, context="base")
    observation, info = env.reset(seed=0)
    seen = []
    while True:
        offered = info["action_mask"].nonzero()[0]
        seen.append("aabbc"[offered[0]])
        assert offered.tolist() == [k for k, base in enumerate("aabbc") if base == seen[-1]]
        assert observation[: len(offered)].tolist() == offered.tolist()
        observation, reward, _, ended, info = env.step(offered[0])
        assert info["regret"] == means[offered].max() - reward
        if ended:
            break
    assert {base: 7 < seen.count(base) < 20 for base in "abc"} == dict.fromkeys("abc", True)
    once = registry.make_environment(**{**kept, "replacement": False}, context="base")
    _, info = once.reset(seed=0)
    for left in range(5, 0, -1):
        _, _, ended, _, info = once.step(info["action_mask"].argmax())
        assert ended == (left == 1)


@pytest.mark.parametrize("graphs", [from_slots({"base": [*"ab"]}), GraphPool([[[1]], [[2]]], [[], []])])
def test_a_context_is_the_name_of_a_slot(graphs):
    with pytest.raises(ValueError, match="Unknown context `solvent`"):
        registry.make_environment(graphs=graphs, reward_model=[0, 1], context="solvent")


def test_what_is_learnt_in_one_context_helps_in_others():
    pool = read_pool("reactions", num_graphs=150, seed=1)
    given = {"graphs": pool, "reward_model": pool.targets, "reward_scale": "unit", "observe": "indices"}
    ratios = []
    for name in ("gp-ucb", "random"):
        env = registry.make_environment(**given, noise_std=0.1, horizon=120, context="substrate")
        ratios.append(run_bandit(env, registry.make_agent(name), seed=0).regret.sum())
    assert ratios[0] < 0.3 * ratios[1]
