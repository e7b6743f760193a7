"""Figures on pages."""

from matplotlib.figure import Figure

from graph_bandit_lab.reports import to_svg


def drawn():
    figure = Figure()
    axes = figure.subplots()
    axes.plot([1, 2, 3], "o-")
    axes.text(1, 2, "name")
    return to_svg(figure)


def test_equal_figures_are_equal_to_the_byte():
    assert drawn() == drawn()
