"""The choice for several goals."""

from types import SimpleNamespace

import numpy as np
import pytest

from graph_bandit_campaign import CampaignState, Goal, Measurement
from graph_bandit_campaign.model.goals_choice import GoalsChooser, Scale

IDS = tuple(f"m{k}" for k in range(200))
INDEX = SimpleNamespace(ids=IDS, names=IDS, index_of={name: k for k, name in enumerate(IDS)})


class Certain:
    """An agent that is sure of all rewards, or knows them to a spread that is larger for later graphs."""

    def __init__(self, values, spread=0.0):
        self.values = np.asarray(values, float)
        self.spread = spread * np.linspace(0, 1, len(self.values))

    def predict(self):
        return type("Prediction", (), {"mean": self.values, "std": self.spread})

    def fantasize_bounds(self, index, pending=()):
        return lambda place: ((self.values - self.spread)[list(index)], (self.values + self.spread)[list(index)])

    def draw_rewards(self, index, count, seed):
        return np.tile(self.values[list(index)], (count, 1))


def state_of(goals, measured, seed=0):
    told = [Measurement(f"m{k}", value, 0, goal=name) for name, known in measured.items() for k, value in known.items()]
    return CampaignState("molecule-ucb", True, seed, tuple(told), goals=tuple(goals))


def chosen(goals, values, measured, count, mask=None, seed=0):
    mask = np.ones(len(values[0]), bool) if mask is None else mask
    state = state_of(goals, {goal.name: measured for goal in goals}, seed)
    return GoalsChooser(state, [Certain(each) for each in values], INDEX).choose(count, mask)


def test_what_is_certain_to_be_on_the_front_is_chosen_and_never_what_is_beaten():
    angle = np.linspace(0, np.pi / 2, 9)
    first, second = np.append(np.cos(angle), 0.4 * np.cos(angle)), np.append(np.sin(angle), 0.4 * np.sin(angle))
    picked = chosen([Goal("a"), Goal("b")], [first, second], {90: 0.0, 91: 1.0}, 6)
    assert len(set(picked)) == 6
    assert max(picked) < 9
    assert min(picked) < 4 < max(picked)  # from both ends


@pytest.mark.parametrize("spread", [0.0, 2.0])
@pytest.mark.parametrize("weight", [None, 1.0])
@pytest.mark.parametrize("short", [1000, 8])
def test_who_minimizes_chooses_as_who_maximizes_minus_the_values(spread, weight, short, monkeypatch):
    monkeypatch.setattr("graph_bandit_campaign.model.goals_choice.SHORT_LIST", short)
    generator = np.random.default_rng(2)
    rewards, known = generator.normal(size=(2, 30)), generator.normal(size=(2, 5))
    picked = []
    for aim, sign in (("maximize", 1.0), ("minimize", -1.0)):
        goals = [Goal(name, aim, weight=weight) for name in "ab"]
        told = {name: dict(enumerate((sign * each).tolist())) for name, each in zip("ab", known, strict=True)}
        agents = [Certain(each, spread) for each in rewards]  # agents are taught rewards, of which large ones are good
        picked.append(GoalsChooser(state_of(goals, told), agents, INDEX).choose(6, np.ones(30, bool)))
    assert picked[0] == picked[1]


def test_weights_choose_by_the_weighted_sum_in_standard_deviations():
    generator = np.random.default_rng(0)
    first, second = generator.normal(size=30), generator.normal(size=30)
    goals = [Goal("a", weight=3.0), Goal("b", "minimize", weight=1.0)]
    measured = {"a": {50: 0.0, 51: 4.0}, "b": {50: 0.0, 51: 1.0}}  # standard deviations of 2 and 1/2
    state = state_of(goals, measured)
    picked = GoalsChooser(state, [Certain(first), Certain(-second)], INDEX).choose(5, np.ones(30, bool))
    assert picked == np.argsort(-(3 * first / 2 - second / 0.5))[:5].tolist()


def test_a_limit_on_a_measured_quantity_leaves_out_what_surely_breaks_it():
    goals = [Goal("a"), Goal("b", "limit", high=1.0)]
    picked = chosen(goals, [np.arange(10.0), np.arange(10.0) - 5], {90: 0.0, 91: 1.0}, 3)
    assert picked == [6, 5, 4]
    none_left = chosen(goals, [np.arange(10.0), np.full(10, 5.0)], {90: 0.0, 91: 1.0}, 2)
    assert len(set(none_left)) == 2  # there is a batch all the same


def test_the_mean_over_directions_is_in_proportion_to_the_hypervolume():
    points, generator = np.array([[0.9, 0.2], [0.6, 0.6], [0.1, 1.0]]), np.random.default_rng(1)
    scale = Scale([Goal("a"), Goal("b")], [np.array([0.0, 1.0])] * 2)
    ways = scale.ways(10_000, generator)
    bounds = [(points[:, 0],) * 2, (points[:, 1],) * 2]
    worth = np.array([scale.worth(bounds, way, np.zeros(3)).max() for way in ways])
    area = 0.9 * 0.2 + 0.6 * 0.4 + 0.1 * 0.4
    assert np.pi / 4 * (worth**2).mean() == pytest.approx(area, rel=0.02)


def test_bounds_count_by_the_best_value_between_them_and_their_root_sum_of_squares_with_weights():
    low, high = np.array([0.0, 1.0]), np.array([4.0, 2.0])
    one, other = Goal("a", weight=1.0), Goal("b", "minimize", weight=2.0)
    scale = Scale([one, other], [np.array([0.0, 2.0])] * 2)  # means of 1 and -1, standard deviations of 1
    np.testing.assert_allclose(
        scale.worth([(low, high), (low, high)], np.array([1.0, 2.0]), np.zeros(2)),
        [1 + 2 * -1 + np.hypot(2, 4), 0.5 + 2 * -0.5 + np.hypot(0.5, 1.0)],
    )


@pytest.mark.parametrize(
    ("known", "scale"), [([1.0, 2.0, 3.0], (2 / 3) ** 0.5), ([1.0, 13.0], 6.0), ([9.0, 40.0], 30.0)]
)
def test_the_scale_of_a_target_is_a_standard_deviation_of_the_results_or_their_farthest_distance(known, scale):
    """The index of a value in the range is 1 / way, and that of one as far from it as the scale is 0."""
    goals = [Goal("a", "target", 0.0, 10.0), Goal("b")]
    values, best = np.array([5.0, 10.0 + scale]), np.full(2, 2.0)
    worth = Scale(goals, [np.array(known), np.array([0.0, 2.0])]).worth(
        [(values, values), (best, best)], np.array([0.8, 0.6]), np.zeros(2)
    )
    np.testing.assert_allclose(worth, [1 / 0.8, 0.0], atol=1e-3)


@pytest.mark.parametrize("weight", [None, 2.0])
def test_what_is_dearer_has_to_be_better_in_every_goal_as_for_one_goal(weight):
    generator = np.random.default_rng(5)
    known = [np.array([0.0, 2.0]), np.array([0.0, 1.0, 5.0])]
    scale = Scale([Goal("a", weight=weight), Goal("b", "minimize", weight=weight)], known)
    low, handicap = generator.normal(size=(2, 7)), 0.5 * np.log(generator.uniform(1, 10, 7))
    plain = [(each, each + 1) for each in low]
    better = [
        (lower + sign * handicap * told.std(), upper + sign * handicap * told.std())
        for (lower, upper), told, sign in zip(plain, known, (1, -1), strict=True)
    ]
    way = np.array([0.6, 0.8])
    np.testing.assert_allclose(scale.worth(better, way, handicap), scale.worth(plain, way, np.zeros(7)), atol=1e-12)
