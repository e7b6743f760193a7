import json

import numpy as np
import pytest
from support.molecules import some_molecules

import registry
from graph_bandit_campaign import AgentChangedWarning, Campaign, Measurement
from graph_bandit_env import GraphPool, from_smiles

MOLECULES = some_molecules(22)
SMALL = "molecule-ucb:short_list=20"
IDS = MOLECULES.ids
VALUES = dict(zip(IDS, MOLECULES.targets.tolist(), strict=True))


def begin(agent=SMALL, graph_set=MOLECULES, **settings):
    return Campaign(graph_set, agent, **settings)


def ids_of(suggestions):
    return [suggestion.id for suggestion in suggestions]


def test_a_batch_holds_what_is_neither_measured_nor_pending_nor_failed():
    campaign = begin()
    campaign.tell_many({IDS[0]: 1.0, IDS[1]: 2.0})
    campaign.tell_failed(IDS[2])
    first = ids_of(campaign.ask(8))
    second = ids_of(campaign.ask(8))
    assert len({*first, *second}) == 16
    assert not {*first, *second} & set(IDS[:3])
    assert len(campaign.ask(np.int64(len(IDS) - 19))) == len(IDS) - 19
    with pytest.raises(ValueError, match="no more graphs than are left, 0. Got 1"):
        campaign.ask(1)


def test_what_is_withdrawn_can_be_suggested_again():
    campaign = begin(offered=[True, *[False] * (len(IDS) - 1)])
    (only,) = campaign.ask()
    with pytest.raises(ValueError, match="than are left"):
        campaign.ask()
    campaign.withdraw(only.id)
    assert ids_of(campaign.ask()) == [IDS[0]]


def test_results_come_in_any_order_and_replace_what_is_pending():
    campaign = begin()
    asked = ids_of(campaign.ask(3))
    campaign.tell(asked[2], 0.5)
    campaign.tell_failed(asked[0])
    campaign.tell(IDS[-1] if IDS[-1] not in asked else IDS[-2], 1.5)  # which nobody had asked for
    assert campaign.state.pending == (asked[1],)
    assert campaign.state.failed == (asked[0],)
    assert [result.value for result in campaign.state.measured] == [0.5, 1.5]
    campaign.tell(asked[0], 0.1)  # a failed one was tried again
    assert campaign.state.failed == ()


@pytest.mark.parametrize(("maximize", "best"), [(True, max), (False, min)])
def test_finds_the_best_in_either_direction(maximize, best):
    campaign = begin("molecule-ucb", maximize=maximize)
    campaign.tell_many({key: VALUES[key] for key in IDS[::5]})
    for _ in range(4):
        for suggestion in campaign.ask(2):
            campaign.tell(suggestion.id, VALUES[suggestion.id])
    assert campaign.best == best(VALUES.values())


def test_the_mirrored_problem_has_the_same_suggestions_and_probabilities():
    up, down = begin(), begin(maximize=False)
    up.tell_many({key: VALUES[key] for key in IDS[:6]})
    down.tell_many({key: -VALUES[key] for key in IDS[:6]})
    for one, other in zip(up.ask(4), down.ask(4), strict=True):
        assert one.id == other.id
        assert (one.mean, one.low, one.high) == pytest.approx((-other.mean, -other.high, -other.low))
        assert one.probability == pytest.approx(other.probability)


def test_probability_is_that_of_a_normal_result_beyond_the_best():
    campaign = begin("molecule-ucb:warp=none")
    campaign.tell_many({key: VALUES[key] for key in IDS[:6]})
    one = campaign.predict()[IDS[10]]
    draws = np.random.default_rng(0).normal(one.mean, one.result_std, 200_000)
    assert one.probability == pytest.approx((draws > campaign.best).mean(), abs=0.01)
    assert one.result_std == pytest.approx(np.hypot(one.std, one.noise_std))


@pytest.mark.parametrize("values", [(), (5000.0,), (3.0, 3.0)])
def test_nothing_is_predicted_before_two_results_differ(values):
    campaign = begin()
    campaign.tell_many(dict(zip(IDS, values, strict=False)))
    for suggestion in campaign.ask(2):
        assert suggestion.mean is suggestion.std is suggestion.noise_std is suggestion.interval is None
        assert suggestion.probability is None


def test_predictions_are_the_same_before_and_after_a_choice():
    campaign = begin()
    campaign.tell_many({key: VALUES[key] for key in IDS[:6]})
    before = campaign.predict()
    campaign.ask(3)
    assert campaign.predict() == before


def test_the_best_is_the_best_mean_of_repeated_measurements():
    campaign = begin("random")
    campaign.tell(IDS[1], 4.0)
    for value in (1.0, 2.0, 6.0):
        campaign.tell(IDS[0], value)
    assert campaign.best == 4.0


def test_telling_the_same_again_changes_nothing():
    """A program that is started again tells all that it knows."""
    campaign = begin("random")
    for _ in range(2):
        campaign.tell_many({IDS[0]: 1.0, IDS[1]: 2.0})
    assert len(campaign.state.measured) == 2


def test_a_reopened_campaign_goes_on_as_one_that_was_never_closed(tmp_path):
    kept, whole = tmp_path / "kept.json", begin(seed=3)
    for round_number in range(3):
        campaign = begin(seed=3 if round_number == 0 else None, state=kept)
        expected, found = whole.ask(3), campaign.ask(3)
        assert found == expected
        for suggestion in found[:2]:
            whole.tell(suggestion.id, VALUES[suggestion.id])
            begin(None, state=kept).tell(suggestion.id, VALUES[suggestion.id])
    assert begin(None, state=kept).state == whole.state


def test_a_further_measurement_counts_beside_the_earlier_ones():
    campaign = begin("molecule-ucb:warp=none,noise_variance=1e-6")
    campaign.tell_many({key: VALUES[key] for key in IDS[:8]})
    campaign.tell(IDS[0], VALUES[IDS[0]] + 1)
    assert campaign.predict()[IDS[0]].mean == pytest.approx(VALUES[IDS[0]] + 0.5, abs=0.01)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "3", None, True])
def test_refuses_what_is_no_number_and_changes_nothing(value, tmp_path):
    campaign = begin(state=tmp_path / "state.json")
    campaign.tell(IDS[0], 1.0)
    before = (tmp_path / "state.json").read_bytes()
    with pytest.raises(ValueError, match="Expected a finite number for"):
        campaign.tell_many({IDS[1]: 2.0, IDS[2]: value})
    assert (tmp_path / "state.json").read_bytes() == before
    assert len(campaign.state.measured) == 1


def test_refuses_an_unknown_graph_and_names_the_nearest():
    campaign = begin(graph_set=GraphPool([[[1.0]]] * 2, [[]] * 2, ids=("alpha", "beta")), agent="random")
    uses = (
        lambda: campaign.tell("alphe", 1.0),
        lambda: campaign.tell_failed("alphe"),
        lambda: campaign.withdraw("alphe"),
    )
    for use in uses:
        with pytest.raises(ValueError, match="Got 'alphe'. Did you mean `alpha`?"):
            use()


def test_refuses_a_file_of_another_campaign(tmp_path):
    path = tmp_path / "state.json"
    begin(state=path, seed=1).tell(IDS[0], 1.0)
    with pytest.raises(ValueError, match="`maximize` False. .* has True"):
        begin(state=path, maximize=False)
    with pytest.raises(ValueError, match="`seed` 2. .* has 1"):
        begin(state=path, seed=2)
    with pytest.raises(ValueError, match="`target` ic50. .* has "):
        begin(state=path, target="ic50")
    with pytest.raises(ValueError, match="the id of a graph of the pool"):
        begin(state=path, graph_set=from_smiles(["CCO", "CCN"])).ask()
    path.write_text("{}")
    with pytest.raises(ValueError, match="to be the state of a campaign"):
        begin(state=path)
    path.write_text(json.dumps({"format": 99}))
    with pytest.raises(ValueError, match="of another version"):
        begin(state=path)


def test_another_agent_may_take_over(tmp_path):
    path = tmp_path / "state.json"
    begin(state=path).tell(IDS[0], 1.0)
    begin("random", state=path).ask(2)
    assert begin(None, state=path).state.agent == "random"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": -1}, "`seed` to be an integer >= 0. Got -1"),
        ({"seed": 1.5}, "`seed` to be an integer >= 0. Got 1.5"),
        ({"offered": [True]}, "`offered` of shape"),
    ],
)
def test_refuses_settings_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        begin(**settings)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_refuses_a_number_that_is_none(count):
    with pytest.raises(ValueError, match="`count` to be an integer >= 1"):
        begin("random").ask(count)


def test_a_direction_may_be_a_numpy_bool(tmp_path):
    assert begin("random", maximize=np.bool_(False), seed=np.int64(3)).state.maximize is False
    with pytest.raises(ValueError, match="the folder of"):
        begin("random", state=tmp_path / "nowhere" / "state.json")


def test_refuses_an_agent_that_cannot_play_here():
    with pytest.raises(ValueError, match="Unknown agent"):
        begin("molecule-tss")
    with pytest.raises(ValueError, match="`molecule-ts` needs molecules"):
        begin("molecule-ts", graph_set=GraphPool([[[1.0]]], [[]]))


def test_an_agent_that_is_gone_is_refused_with_the_file_that_names_it(tmp_path):
    path = tmp_path / "state.json"
    begin(state=path).tell(IDS[0], 1.0)
    path.write_text(path.read_text().replace("molecule-ucb", "molecule-ucp"))
    with pytest.raises(ValueError, match=r"state\.json: Unknown agent `molecule-ucp`.* pass it as `agent`"):
        Campaign(MOLECULES, state=path)
    assert begin(state=path).state.agent == SMALL


def test_two_programs_do_not_overwrite_each_other(tmp_path):
    one, other = (begin(state=tmp_path / "state.json") for _ in range(2))
    one.tell(IDS[0], 1.0)
    with pytest.raises(ValueError, match="Another process wrote to it"):
        other.tell(IDS[1], 1.0)
    assert other.state.measured == ()

    def tell_at_once():
        with other.at_once():
            other.tell(IDS[1], 1.0)

    with pytest.raises(ValueError, match="Another process wrote to it"):
        tell_at_once()
    assert other.state.measured == ()


@pytest.mark.parametrize("agent", ["gnn-ts:width=16,steps=5", "gntk-ucb", "random", "ucb1"])
def test_other_agents_play_on_other_graphs_too(agent):
    rng = np.random.default_rng(0)
    sizes = (4, 5, 3, 6, 4, 5)
    nodes, links = [rng.normal(size=(n, 3)) for n in sizes], [[(0, 1), (1, 2)]] * 6
    pool = GraphPool(nodes, links, ids=tuple("abcdef"), directed=False)
    campaign = begin(agent, graph_set=pool)
    for number, one in enumerate(campaign.ask(3)):
        campaign.tell(one.id, float(number))
    found = campaign.ask(3)
    assert {suggestion.id for suggestion in found} == set("abcdef") - {result.id for result in campaign.state.measured}
    assert all((each.mean is None) == (agent in ("random", "ucb1")) for each in found)


def test_the_default_agent_depends_on_what_the_pool_is():
    assert begin(None).state.agent == "molecule-ei"
    assert begin(None, graph_set=GraphPool([[[1.0]]], [[]])).state.agent == "gp-ei:warp=normal_scores"


def test_changes_at_once_are_all_or_none(tmp_path):
    path = tmp_path / "state.json"
    campaign = begin("random", state=path)

    def tell_and_ask_too_much():
        with campaign.at_once():
            campaign.tell(IDS[0], 1.0)
            campaign.ask(100)

    with pytest.raises(ValueError, match="than are left"):
        tell_and_ask_too_much()
    assert not path.exists()
    assert campaign.state.measured == ()
    with campaign.at_once():
        campaign.tell(IDS[0], 1.0)
        campaign.ask(2)
        assert not path.exists()
    assert begin(None, state=path).state == campaign.state


def test_the_last_round_can_be_taken_back():
    campaign = begin("random")
    with pytest.raises(ValueError, match="Nothing was suggested yet"):
        campaign.undo_ask()
    first, second = campaign.ask(2), campaign.ask(2)
    campaign.undo_ask()
    assert campaign.state.rounds == (first,)
    assert campaign.state.pending == tuple(ids_of(first))
    assert campaign.ask(2) == second


def test_replaced_results_are_checked_first():
    campaign = begin()
    campaign.replace_results([Measurement(IDS[0], 1.0, 0), Measurement(IDS[0], 2.0, 1)], failed=[IDS[3]])
    assert campaign.best == 1.5
    with pytest.raises(ValueError, match="Expected the id of a graph"):
        campaign.replace_results([Measurement("nobody", 1.0, 0)])
    with pytest.raises(ValueError, match="Expected a finite number"):
        campaign.replace_results([Measurement(IDS[1], float("nan"), 0)])
    assert campaign.state.failed == (IDS[3],)


@pytest.fixture
def versions(monkeypatch):
    """An agent `mine`, and a function that makes its algorithm another version."""
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    now = {}

    def make():
        agent = registry.make_agent("random")
        vars(agent).update(now)
        return agent

    registry.register_agent("mine", make)
    return lambda version: now.update(algorithm=version)


def test_an_agent_that_has_changed_is_told_and_goes_on(tmp_path, versions):
    path = tmp_path / "state.json"
    begin("mine", state=path).tell(IDS[0], 1.0)
    assert "algorithm" not in json.loads(path.read_text())  # as before there were versions
    versions(2)
    changed = r"The agent has changed since this campaign was last written \(algorithm 1, now 2\): suggestions may"
    for _ in range(2):  # nothing was written yet
        with pytest.warns(AgentChangedWarning, match=changed):
            campaign = begin(None, state=path)
    assert "algorithm 1, now 2" in campaign.agent_change
    campaign.tell(IDS[1], 2.0)
    assert json.loads(path.read_text())["algorithm"] == 2
    again = begin("mine", state=path)
    assert (again.agent_change, again.state.algorithm) == ("", 2)
    versions(1)
    with pytest.warns(AgentChangedWarning, match="algorithm 2, now 1"):
        begin(None, state=path).tell(IDS[2], 2.0)
    assert "algorithm" not in json.loads(path.read_text())


def test_another_agent_is_no_agent_that_has_changed(tmp_path, versions):
    path = tmp_path / "state.json"
    begin("random", state=path).tell(IDS[0], 1.0)
    versions(3)
    campaign = begin("mine", state=path)
    assert (campaign.agent_change, campaign.state.algorithm) == ("", 3)
    new = begin("mine", state=tmp_path / "new.json")
    assert (new.agent_change, new.state.algorithm) == ("", 3)
