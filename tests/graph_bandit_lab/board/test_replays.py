"""A part of each entry is played again: what an agent does not do is found, what rounds otherwise is not refused."""

from dataclasses import replace

import numpy as np
import pytest
from support.entries import little_rules, play, send

from graph_bandit_lab import BanditResult
from graph_bandit_lab.board import Replays, read_entry
from graph_bandit_lab.board.replays import choose_replays, compare, play_again
from graph_bandit_lab.design import RunKey

ALL = Replays(share=1.0)


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    return little_rules(tmp_path_factory.mktemp("rules"))


@pytest.fixture(scope="module")
def entry(tmp_path_factory):
    return read_entry(send(play(tmp_path_factory.mktemp("sent") / "mine", "random", "lin-ucb", "ucb1")))


# --- Which are played


@pytest.mark.parametrize(("share", "counts"), [(1e-9, (1, 1, 1)), (0.1, (1, 1, 1)), (0.5, (5, 5, 3)), (1, (9, 9, 6))])
def test_a_share_of_each_agent_is_drawn_and_one_at_least(entry, share, counts):
    chosen = choose_replays(entry, Replays(share=share))
    labels = [one.label for one in chosen]
    assert tuple(labels.count(label) for label in ("random", "lin-ucb", "ucb1")) == counts
    assert len({one.identity for one in chosen}) == len(chosen)


def identities(entry, **changes):
    return [one.identity for one in choose_replays(entry, Replays(share=0.3, **changes))]


def test_the_draw_follows_from_the_file_and_the_seed_alone(entry):
    shuffled = replace(entry, plays=entry.plays[::-1])
    assert identities(entry) == identities(shuffled)
    assert identities(entry) != identities(entry, seed=1)
    assert identities(entry) != identities(replace(entry, digest="0" * 64))


def test_every_repetition_can_be_drawn(entry):
    drawn = {identity for seed in range(60) for identity in identities(entry, seed=seed)}
    assert drawn == {one.identity for one in entry.plays}


def test_agents_of_others_are_never_drawn(entry):
    plays = tuple(replace(one, key=replace(one.key, plug_in="other 1.0")) for one in entry.plays)
    assert choose_replays(replace(entry, plays=plays), ALL) == []


@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match="Expected `share` to be above 0, and at most 1"):
        Replays(share=share)


@pytest.mark.parametrize("seed", [-1, 0.5])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(ValueError, match="Expected `seed` to be an integer >= 0"):
        Replays(seed=seed)


# --- What comes of it


def test_what_was_played_here_is_equal(entry, rules):
    done = play_again(entry, choose_replays(entry, ALL), rules)
    assert len(done) == 24
    assert not any(one.parted or one.fault for one in done)


def test_actions_of_another_agent_part_and_too_much_regret_is_found(entry, rules):
    """The plays of an agent that knows the best graph, under the name of random play."""

    def without_regret(one):
        return replace(one, regret=np.full_like(one.regret, 0.01), actions=(one.actions + 1) % 5)

    few = next(key for key, task in rules.tasks.items() if task.name == "few")
    plays = tuple(
        without_regret(one) if (one.label, one.key.environment_key) == ("random", few) else one for one in entry.plays
    )
    forged = replace(entry, plays=plays)
    done = play_again(forged, choose_replays(forged, ALL), rules)
    assert {one.play.label for one in done if one.fault} == {"random"}
    faults = [one.fault for one in done if one.fault]
    assert len(faults) == 3
    assert all("it plays another graph in round 1, and the R_T of its row, " in fault for fault in faults)


def test_what_an_entry_says_of_its_own_regret_does_not_widen_the_interval(entry, rules):
    """Four repetitions that know the best graph, and one with a little regret: by these five, nothing is impossible."""
    few = next(key for key, task in rules.tasks.items() if task.name == "few")
    totals = iter([0.001, 12.0, 0.001])

    def forged(one):
        if (one.label, one.key.environment_key) != ("random", few):
            return one
        return replace(one, regret=np.full_like(one.regret, next(totals) / 12), actions=(one.actions + 1) % 5)

    sent = replace(entry, plays=tuple(map(forged, entry.plays)))
    done = play_again(sent, choose_replays(sent, ALL), rules)
    assert sum("outside of the interval" in one.fault for one in done) == 2


def test_at_most_half_of_what_is_played_again_may_part(entry, rules):
    def forged(one):
        is_theirs = one.label == "random" and one.key.environment.get("replacement", True)
        return replace(one, actions=(one.actions + 1) % 4) if is_theirs else one

    sent = replace(entry, plays=tuple(map(forged, entry.plays)))
    done = play_again(sent, choose_replays(sent, ALL), rules)
    wrong = [one for one in done if one.fault]
    assert len(wrong) == 6
    assert {one.fault for one in wrong} == {"it plays another graph, as do most of this agent's that were played again"}


def test_nothing_to_play_is_played(entry, rules):
    assert play_again(entry, [], rules) == []


ACTIONS = np.array([2, 0, 1, 1])
STORED = BanditResult(ACTIONS, np.array([0.1, -0.2, 0.5, 0.4]), np.array([1.0, 1.5, 0.5, 0.5]))
KEY = RunKey("random", {}, {"num_graphs": 3})


@pytest.fixture
def stored(entry):
    return replace(
        entry.plays[0], key=KEY, actions=ACTIONS, rewards=STORED.rewards, regret=STORED.regret, status="finished"
    )


def test_another_type_of_cpu_may_round_otherwise(stored):
    replayed = compare(stored, replace(STORED, rewards=STORED.rewards + 1e-4), [3.5, 3.4])
    assert (replayed.parted, replayed.fault) == (False, "")


def test_other_rewards_for_the_same_actions_are_a_fault(stored):
    replayed = compare(stored, replace(STORED, rewards=STORED.rewards + np.array([0, 0, 0.1, 0])), [3.5, 3.4])
    assert replayed.fault == "its row has rewards 0.5000 in round 3, where its actions earn 0.6000"


@pytest.mark.parametrize(("total", "inside"), [(3.5, True), (4.2, True), (2.9, True), (30.0, False), (0.1, False)])
def test_where_plays_part_the_regret_of_the_row_must_lie_in_its_interval(stored, total, inside):
    """Of 3.0, 3.5 and 4.0 the mean is 3.5, s is 0.5, and t of 99 % and 2 degrees is 9.925: from 0.68 to 18.0."""
    sent = replace(stored, regret=np.array([0.05, 0.01, 0.0, total - 0.06]))
    other = replace(
        STORED,
        actions=np.array([2, 0, 0, 1]),
        rewards=STORED.rewards + np.array([0, 0, 9, 9]),
        regret=np.array([0.05, 0.01, 3.0, 0.44]),
    )
    replayed = compare(sent, other, [3.0, 3.5, 4.0])
    assert replayed.parted
    assert (replayed.fault == "") == inside
    if not inside:
        assert replayed.fault == (
            f"it plays another graph in round 3, and the R_T of its row, {total:.1f}, is outside of the interval of "
            "repetitions that were played again, 0.7 to 18.0"
        )


def test_rewards_before_the_plays_part_must_be_equal(stored):
    other = replace(STORED, actions=np.array([2, 0, 0, 1]), rewards=STORED.rewards + np.array([0, 0.5, 0, 0]))
    assert compare(stored, other, [3.0, 3.5, 4.0]).fault.startswith("its row has rewards -0.2000 in round 2")


def test_where_the_interval_is_not_known_plays_must_not_part(stored):
    other = replace(STORED, actions=np.array([2, 0, 0, 1]))
    assert "outside of the interval" in compare(stored, other, [3.5]).fault


def test_another_end_is_a_fault(stored):
    diverged = replace(STORED, status="diverged")
    assert compare(stored, diverged, [3.5]).fault == "it is diverged when it is played again, and finished in its row"


def test_an_agent_that_fails_is_named_with_its_error(entry, rules, monkeypatch):
    monkeypatch.setattr("graph_bandit_lab.execution.worker.run_bandit", lambda *_, **__: 1 / 0)
    one, *_ = play_again(entry, choose_replays(entry, Replays(share=0.1)), rules)
    assert one.fault == "it fails when it is played again: ZeroDivisionError: division by zero"
