"""The benchmark of policies: trainings, tests and their table."""

import numpy as np
import pandas as pd
import pytest

import registry
from benchmarks import kept_tasks
from benchmarks.kept_rows import append_rows
from benchmarks.policies import __main__ as command_line
from benchmarks.policies import train as training
from benchmarks.policies.figure import main
from benchmarks.policies.online import learn_online
from benchmarks.policies.online import test as play_and_test
from benchmarks.policies.train import COLUMNS, Task, UnseenSets, train
from graph_bandit_lab.execution import InProcess


class Choices:
    """A model that plays what it is told."""

    def __init__(self, choose):
        self.choose = choose

    def predict(self, observation, deterministic):
        assert deterministic
        return self.choose(observation), None


@pytest.fixture(scope="module")
def sets():
    return UnseenSets(Task(actions_per_round=5), 40)


def test_the_best_graphs_on_offer_have_no_regret(sets):
    best = np.where(sets.masks, sets._means, -np.inf).argmax(axis=1)
    assert sets.test(Choices(lambda _: best)) == (0.0, 0)


def test_random_play_has_the_regret_of_random_play(sets):
    rng = np.random.default_rng(0)
    regrets = [
        sets.test(Choices(lambda seen: np.array([rng.choice(np.flatnonzero(row)) for row in seen["mask"]])))[0]
        for _ in range(200)
    ]
    assert np.mean(regrets) == pytest.approx(1, abs=0.03)


def test_masked_graphs_that_are_played_are_counted(sets):
    assert sets.test(Choices(lambda seen: seen["mask"].argmin(axis=1)))[1] == 40


def test_training_and_tests_share_the_reward_function_and_no_graphs():
    task = Task(seed=1)
    seen, unseen = task.bandits(3), UnseenSets(task, 3)
    seen.reset(seed=[task.first_seed + i for i in range(3)])
    other = Task(seed=2).bandits(3)
    other.reset(seed=training.TEST_SEED + 1)
    assert not np.isclose(seen.unwrapped.mean_rewards, unseen._means).any()
    assert not np.isclose(other.unwrapped.mean_rewards, unseen._means).any()
    function = seen.unwrapped.bandit._known_rewards
    again = task.bandits(3)
    again.reset(seed=training.TEST_SEED + 1)
    assert np.array_equal(function(again.unwrapped.graph_sets[0]), unseen._means[0])


@pytest.mark.parametrize("learner", ["ppo", "maskable-ppo", "dqn"])
def test_a_training_is_tested_from_before_its_first_round_to_its_end(learner):
    rows = pd.DataFrame(train(learner, 0, 7, steps=300, test_sets=5), columns=COLUMNS)
    assert rows["steps"].iloc[0] == 0
    assert rows["steps"].iloc[-1] >= 300
    assert rows["steps"].is_monotonic_increasing
    assert (rows["masked"] == 0).all()
    assert (rows["relative_regret"] >= 0).all()


def test_a_bandit_agent_learns_online_and_tests_do_not_disturb_its_play():
    rows = pd.DataFrame(learn_online("lin-ts", 0, 20, rounds=30, test_sets=40), columns=COLUMNS)
    assert rows["steps"].tolist() == [0, 1, 2, 3, 4, 6, 9, 13, 19, 28, 30]
    assert rows["relative_regret"].iloc[0] > 0.5
    assert rows["relative_regret"].iloc[-1] < 0.1
    untested = registry.make_agent("lin-ts")
    env = Task(seed=0).bandit()
    observation, info = env.reset(seed=0)
    untested.reset(observation, seed=0)
    for _ in range(30):
        action = untested.select_action(observation, info["action_mask"])
        played = observation
        observation, reward, *_, info = env.step(action)
        untested.update(played, action, float(reward))
    regret, _ = play_and_test(untested, UnseenSets(Task(seed=0), 40))
    assert round(regret, 5) == rows["relative_regret"].iloc[-1]


def test_an_agent_is_as_good_as_a_policy_from_the_round_after_which_it_stays_so():
    curves = {"ppo": ([0, 100], [1.0, 0.2]), "lin-ts": ([0, 1, 2, 3, 4], [1.0, 0.1, 0.3, 0.2, 0.1])}
    tests = pd.DataFrame(
        [
            (learner, seed, 20, steps[-1], 5, step, regret, 0, 1.0)
            for learner, (steps, regrets) in curves.items()
            for seed in range(2)
            for step, regret in zip(steps, regrets, strict=True)
        ],
        columns=COLUMNS,
    )
    assert command_line.overtaking(tests) == ["lin-ts is as good as ppo after 100 rounds: from round 3 on."]
    tests.loc[(tests["learner"] == "lin-ts") & (tests["steps"] == 4), "relative_regret"] = 0.5
    assert command_line.overtaking(tests) == ["lin-ts is as good as ppo after 100 rounds: never in 4 rounds."]


def made_up(learner, seed, actions_per_round, steps, test_sets):
    made_up.calls.append((learner, seed))
    if learner == "dqn":
        raise MemoryError("too large a buffer")
    head = tuple(map(str, (learner, seed, actions_per_round, steps, test_sets)))
    return [(*head, n, 1 / (1 + n + seed), 0, 1.5) for n in (0, 64, steps)]


@pytest.fixture
def played(monkeypatch):
    monkeypatch.setattr(command_line, "learn", made_up)
    monkeypatch.setattr(kept_tasks, "Processes", lambda count: InProcess())
    made_up.calls = []
    return made_up.calls


def test_the_table_has_means_and_intervals_and_the_figure_is_drawn(played, tmp_path, capsys):
    out, figure = tmp_path / "tests.csv", tmp_path / "curve.png"
    arguments = ["--learners", "ppo", "maskable-ppo:10", "--seeds", "2", "--steps", "999"]
    assert command_line.main([*arguments, "--out", str(out), "--markdown"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ppo")]
    low, mean, high = 100 / 1001, 50 / 1000 + 50 / 1001, 100 / 1000
    assert low < mean < high
    assert lines[0].startswith(f"| ppo | 20 of 20 | 999 | {mean:.2f} [")
    assert len(pd.read_csv(out)) == 12
    main((out, out), figure)
    assert figure.stat().st_size > 10_000


def test_finished_trainings_are_not_run_again_and_others_are(played, tmp_path):
    arguments = ["--learners", "ppo", "--steps", "99", "--out", str(tmp_path / "tests.csv")]
    command_line.main([*arguments, "--seeds", "2"])
    command_line.main([*arguments, "--seeds", "3"])
    assert played == [("ppo", 0), ("ppo", 1), ("ppo", 2)]
    command_line.main([*arguments, "--seeds", "1", "--test-sets", "7"])
    assert len(played) == 4


def test_a_training_that_fails_does_not_stop_the_others(played, capsys):
    assert command_line.main(["--learners", "dqn", "ppo", "--seeds", "2", "--steps", "99"]) == 1
    found = capsys.readouterr()
    assert "dqn, 0, 20, 99, 500 failed: MemoryError: too large a buffer" in found.err
    assert "ppo" in found.out
    assert len(played) == 4


@pytest.mark.parametrize("learners", [["pppo"], ["ppo:21"], ["ppo:0"], ["ppo:x"]])
def test_learners_that_are_none_are_refused(learners, capsys):
    with pytest.raises(SystemExit, match="2"):
        command_line.main(["--learners", *learners])
    assert "Expected learners of ppo" in capsys.readouterr().err


def test_a_file_of_other_tests_is_refused(tmp_path, capsys):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert command_line.main(["--out", str(tmp_path / "other.csv")]) == 1
    assert "to have the columns learner" in capsys.readouterr().err


def test_trainings_share_no_graphs():
    first, second = ({Task(seed=s).first_seed + i for i in range(training.NUM_BANDITS)} for s in (0, 1))
    assert not first & second


class Broken:
    """A cell that cannot be written."""

    def __str__(self):
        raise KeyboardInterrupt


def test_a_program_that_stops_while_it_keeps_a_training_has_kept_none_of_it(tmp_path):
    path = tmp_path / "tests.csv"
    append_rows(path, ("a", "b"), [(1, 2)])
    with pytest.raises(KeyboardInterrupt):
        append_rows(path, ("a", "b"), [*((k, k) for k in range(10_000)), (1, Broken())])
    assert path.read_text() == "a,b\n1,2\n"
