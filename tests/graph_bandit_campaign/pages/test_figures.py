import pytest

from graph_bandit_campaign.pages.figures import compared, progress_figure, share_within
from graph_bandit_campaign.state import CampaignState, Measurement, Suggestion


def test_results_are_compared_with_what_was_last_predicted_of_them():
    rounds = (
        (Suggestion("a", 1.0, 0.3, 0.4, 0.5), Suggestion("d", 1.0, 1.0, 0.0)),
        (Suggestion("b", 0.0, 1.0, 0.0, 0.5), Suggestion("c")),
        (Suggestion("d", 5.0, 1.0, 0.0),),
    )
    told = (("a", 1.6, 2), ("b", 2.5, 2), ("c", 0.0, 2), ("b", 9.0, 0), ("d", 5.0, 3))
    measured = tuple(Measurement(*row) for row in told)
    pairs = compared(CampaignState("random", True, 0, measured, rounds=rounds))
    assert [(one.mean, two.value) for one, two in pairs] == [(1.0, 1.6), (0.0, 2.5), (5.0, 5.0)]
    assert [one.result_std for one, _ in pairs] == [pytest.approx(0.5), 1.0, 1.0]
    assert [share_within(pairs, deviations) for deviations in (1, 2, 3)] == [pytest.approx(k / 3) for k in (1, 2, 3)]


@pytest.mark.parametrize("rounds", [[0, 0], [0, 1, 2]])
def test_the_axis_of_rounds_has_whole_numbers(rounds):
    measured = tuple(Measurement(str(k), float(k), number) for k, number in enumerate(rounds))
    figure = progress_figure(CampaignState("random", True, 0, measured), "y")
    (axes,) = figure.axes
    low, high = axes.get_xlim()
    shown = [float(tick) for tick in axes.get_xticks() if low <= tick <= high]
    assert shown == sorted(set(map(float, rounds)))
