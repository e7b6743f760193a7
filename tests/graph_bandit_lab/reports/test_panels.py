import itertools
import json

import numpy as np
import pandas as pd
import pytest

from graph_bandit_lab.reports.panels import MAX_PANELS, arrange, panels_figure, settings_figure

BASE = {"graph_model": "er", "num_nodes": 50, "num_graphs": 100, "reward_model": "linear", "edge_prob": 0.4}


def product(**values):
    return [{**BASE, **dict(zip(values, chosen, strict=True))} for chosen in itertools.product(*values.values())]


def test_figure_1_has_a_row_a_graph_model_and_a_column_a_reward():
    environments = product(reward_model=["linear", "gp_gntk", "gp_representation"], graph_model=["er", "rdpg"])
    places, columns = arrange(environments)
    assert columns == 3
    shown = [environments[place] for place in places]
    assert [one["graph_model"] for one in shown] == ["er"] * 3 + ["rdpg"] * 3
    assert [one["reward_model"] for one in shown[:3]] == ["linear", "gp_gntk", "gp_representation"]


def test_figure_2_is_a_row_of_four():
    assert arrange(product(num_graphs=[10, 50, 100, 200])) == ([0, 1, 2, 3], 4)


@pytest.mark.parametrize(
    "environments",
    [
        product(num_nodes=[10, 50], num_graphs=[10, 50, 100], reward_model=["linear", "gp_gntk", "gp_representation"]),
        product(num_graphs=[10, 50, 100], graph_model=["er", "rdpg"])[:5],  # not the whole product
        product(num_nodes=[10, 20, 30, 40, 50]),
    ],
)
def test_everything_else_comes_as_it_is(environments):
    assert arrange(environments) == (list(range(len(environments))), 3)


def results(environments, labels=("a", "b"), **columns):
    rows = [
        {
            "environment": environment,
            "environment_key": json.dumps(environment, sort_keys=True),
            "label": label,
            "agent": "gnn-ts",
            "agent_settings": {},
            "seed": seed,
            "status": "finished",
            "regret": np.full(4, 1.0 + seed),
            **{name: values[label] for name, values in columns.items()},
        }
        for environment in environments
        for label in labels
        for seed in (0, 1)
    ]
    return pd.DataFrame(rows)


def test_a_panel_has_means_and_deviations_of_its_own_environment():
    environments = product(num_graphs=[10, 50])
    table = results(environments)
    table.loc[(table["label"] == "b") & (table["environment"] == environments[1]), "status"] = "diverged"
    first, second = panels_figure(table, ["a", "b"]).axes
    assert [axes.get_title("left") for axes in (first, second)] == ["K = 10", "K = 50"]
    np.testing.assert_allclose(first.lines[0].get_ydata(), 1.5 * np.arange(1, 5))
    band = first.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(1.5 * 4 + 0.5 * 4)
    assert sum(len(line.get_xdata()) > 0 for line in second.lines) == 1  # what diverged is not drawn


def test_simple_regret_is_drawn_as_it_is_and_regret_added_up():
    falling = [np.array([3.0, 1.0, 1.0, 0.0])] * 2
    table = results([BASE]).assign(simple_regret=[*falling, *falling])
    figure = panels_figure(table, ["a", "b"], "simple_regret")
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), falling[0])
    assert figure.get_supylabel() == "simple regret (reward units)"
    assert panels_figure(table, ["a", "b"]).get_supylabel() == "cumulative regret $R_t$ (reward units)"


def test_no_more_panels_are_drawn_than_can_be_read():
    assert len(panels_figure(results(product(num_graphs=list(range(2, 40)))), ["a", "b"]).axes) == MAX_PANELS


CELLS = {f"{m} {at}": {"width": m, "gradients_at": at} for m in (32, 128, 512) for at in ("current", "initial")}


def test_figure_3_has_a_panel_a_place_of_gradients_and_a_line_a_width():
    figure = settings_figure(results([BASE], list(CELLS), agent_settings=CELLS))
    assert [axes.get_title("left") for axes in figure.axes] == ["gradients at = current", "gradients at = initial"]
    drawn = [line.get_label() for line in figure.axes[0].lines if len(line.get_xdata())]
    assert drawn == ["m = 32", "m = 128", "m = 512"]


def test_agents_that_tell_different_settings_have_no_such_figure_and_no_error():
    told = {"a": {"a": 1, "b": 1}, "b": {"a": 1, "b": 2}, "c": {"a": 2}, "d": {"b": 1}}
    assert settings_figure(results([BASE], list(told), agent_settings=told)) is None


@pytest.mark.parametrize("labels", [list(CELLS)[:5], list(CELLS)[:1]])
def test_what_is_no_product_of_settings_has_no_such_figure(labels):
    assert settings_figure(results([BASE], labels, agent_settings=CELLS)) is None
