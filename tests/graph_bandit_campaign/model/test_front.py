"""The front of several goals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_bandit_campaign import CampaignState, Goal, Measurement, Suggestion
from graph_bandit_campaign.model.front import find_front, front_probabilities, join_forecasts

GOALS = (Goal("a"), Goal("b", "minimize"), Goal("c", "limit", high=2.0))


def state_of(values, goals=GOALS):
    """Return a campaign with results `{goal: {id: value}}`, where a text such as ">2" is a bound."""
    told = []
    for goal, known in values.items():
        for key, value in known.items():
            bound = {">": "above", "<": "below"}.get(str(value)[0], "")
            told.append(Measurement(key, float(str(value).lstrip("<>")), 0, bound, goal))
    return CampaignState("molecule-ucb", True, 0, tuple(told), goals=goals)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=12))
def test_nothing_beats_what_is_on_the_front_and_all_else_is_beaten(points):
    values = {goal.name: {f"m{k}": point[g] for k, point in enumerate(points)} for g, goal in enumerate(GOALS)}

    def beats(p, q):
        return p[0] >= q[0] and p[1] <= q[1] and p[:2] != q[:2]

    allowed = {f"m{k}": point for k, point in enumerate(points) if point[2] <= 2}
    expected = {key for key, q in allowed.items() if not any(beats(p, q) for p in allowed.values())}
    front = find_front(state_of(values))
    assert set(front) == expected
    assert [allowed[key][0] for key in front] == sorted((allowed[key][0] for key in front), reverse=True)


def test_the_front_needs_a_result_for_every_goal_and_a_mean_for_repeated_ones():
    state = state_of({"a": {"x": 5.0, "y": 1.0}, "b": {"y": 1.0}, "c": {"x": 0.0, "y": 0.0}})
    assert find_front(state) == ("y",)
    assert find_front(CampaignState("molecule-ucb", True, 0, goals=GOALS)) == ()


@pytest.mark.parametrize(
    ("a", "b", "c", "on"),
    [
        (">4", "1", "1", True),  # at least 4
        ("<4", "1", "1", False),
        ("4", "<1", "1", True),
        ("4", ">1", "1", False),
        ("4", "1", "<2", True),
        ("4", "1", ">1", False),  # perhaps 3
    ],
)
def test_a_bound_counts_where_it_surely_says_something_good(a, b, c, on):
    assert find_front(state_of({"a": {"x": a}, "b": {"x": b}, "c": {"x": c}})) == ("x",) * on


def test_the_probability_of_the_front_agrees_with_the_normal_distribution():
    state = state_of({"a": {"x": 1.0}, "b": {"x": 0.0}, "c": {"x": 0.0}})
    forecasts = [
        (Suggestion("p", mean, 0.6, 0.8), Suggestion("q", 9.0, 0.0, 1e-9)) for mean in (2.0, 1.0, 1.0)
    ]  # their results have a standard deviation of 1
    one, other = front_probabilities(state, forecasts)
    better_in_a, better_in_b, within = 0.841, 0.159, 0.841
    assert one == pytest.approx((1 - (1 - better_in_a) * (1 - better_in_b)) * within, abs=0.05)
    assert other == 0  # breaks the limit
    alone = [tuple(forecast[:1]) for forecast in forecasts]
    assert front_probabilities(state, alone) == [one]  # whatever else is asked about
    assert front_probabilities(state, [(Suggestion("p"),)] * 3) == [None]


@pytest.mark.parametrize(("ends", "share"), [((11.0, None), 0.1587), ((None, 11.0), 0.8413), ((9.0, 11.0), 0.6827)])
@pytest.mark.parametrize("aim", ["target", "limit"])
def test_a_range_without_an_end_is_reached_as_often_as_its_other_end_is_passed(ends, share, aim):
    goals = (Goal("a", aim, *ends), Goal("b"))
    state = state_of({"a": {"x": 9.0}, "b": {"x": 1.0}}, goals)
    (one,) = join_forecasts(state, [(Suggestion("p", 10.0, 0.6, 0.8, 0.3),), (Suggestion("p", 2.0, 0.6, 0.8, 0.4),)])
    assert one.by_goal["a"].probability == pytest.approx(share, abs=1e-4)
    assert one.by_goal["b"].probability == 0.4  # as it was told
