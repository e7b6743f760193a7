"""Pages, figures and tables of stored results."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread

from graph_bandit_cli.main import main
from graph_bandit_lab import BanditResult, load_results, table_of, tables_of_rounds, write_report
from graph_bandit_lab.design import EnvironmentSettings, RunKey
from graph_bandit_lab.reports.figures import (
    agent_lines,
    findings_figure,
    panels_figure,
    regret_figure,
    settings_figure,
)
from graph_bandit_lab.storage import ResultStore

ROUNDS = 50


def fill(folder, environments=({},), settings=None, **levels):
    """Store repetitions, given as regret a round, or with simple regret as a pair; None diverges."""
    for changes, (label, values) in itertools.product(environments, levels.items()):
        environment = EnvironmentSettings(horizon=ROUNDS, **changes).to_dict()
        key = RunKey("a", (settings or {}).get(label, {"note": f"<{label}>"}), environment)
        for seed, value in enumerate(values):
            level, simple = value if isinstance(value, tuple) else (value or 0.0, None)
            curve = np.full(ROUNDS, level)
            result = BanditResult(curve.astype(int), curve, curve, "diverged" if value is None else "finished")
            if simple is not None:
                falling, share = simple * np.arange(ROUNDS, 0, -1), np.arange(ROUNDS) == ROUNDS - 1
                result = replace(result, simple_regret=falling, best_found=-falling, top_recall=share * (simple < 1.0))
            ResultStore(folder).add(key, seed, label, result, 1.0)
    return folder


def column(table, name):
    place = table[0].index(name)
    return {row[0]: row[place] for row in table[1:]}


def test_the_page_of_a_run_needs_nothing_else_and_has_pictures_and_numbers(tmp_path):
    levels = {"ts": [(0.1, 0.5), (0.3, 1.5), (0.2, 1.0)], "random": [(1.0, 0.25), (2.0, 0.25), (3.0, 0.25)]}
    page = write_report(fill(tmp_path, **levels)).read_text()
    names = {
        "report.html",
        "results.sqlite",
        *(f"{name}.{kind}" for name in ("regret", "findings") for kind in ("png", "svg")),
    }
    assert {path.name for path in tmp_path.iterdir()} == names
    assert not re.search(r'(src|href)="(?!#)', page)
    assert page.count("<svg") > 2
    assert "have not all played the same" not in page
    for text in ("10.0 [2.9, 34.6]", "1.000 [0.289, 3.463]", "0.250 [–]", "33.3 %", "&lt;ts&gt;"):
        assert text in page
    picture = imread(tmp_path / "regret.png")
    assert picture.shape[1] >= 1600
    assert picture.std() > 0.05


def test_the_page_of_a_sweep_has_each_environment_with_the_lowest_in_bold(tmp_path, capsys):
    sizes = ({"num_graphs": 20}, {"num_graphs": 40})
    fill(tmp_path, sizes, a=[(2.0, 0.5), (2.0, 1.5)], b=[(1.0, 0.25), (1.0, 0.25)])
    assert main(["report", str(tmp_path), "--markdown"]) == 0
    assert "| K = 40 | 0.250 | 1.000 |" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text()
    assert page.count("<td>K = 40</td><td><strong>50.0</strong></td><td>100.0</td>") == 1
    assert page.count("<td>K = 40</td><td><strong>0.250</strong></td><td>1.000</td>") == 1
    assert {path.stem for path in tmp_path.glob("*.png")} == {"regret", "profiles", "findings"}
    table = table_of(load_results(tmp_path))
    assert column(table, "relative simple regret") == {"a": "1.000", "b": "0.250"}
    assert column(table, "top 1 %") == {"a": "50.0 %", "b": "100.0 %"}
    assert column(table, "repetitions") == {"a": "4", "b": "4"}


def test_a_page_warns_where_agents_played_different_instances_or_one_instance_only(tmp_path):
    environment = EnvironmentSettings(horizon=ROUNDS).to_dict()
    environment |= {"graphs": "digest", "graph_model": "own", "reward_model": "target"}
    for label, levels in {"a": [1.0, 1.01, 1.0], "b": [9.0]}.items():
        for seed, level in enumerate(levels):
            curve = np.full(ROUNDS, level)
            result = BanditResult(curve.astype(int), curve, curve)
            ResultStore(tmp_path).add(RunKey(label, {}, environment), seed, label, result, 1.0)
    page = write_report(tmp_path).read_text()
    assert "have not all played the same" in page
    assert "50.2 (one trajectory, played 3 times)" in page
    assert "All repetitions play the same graphs with the same mean rewards" in page


def test_curves_are_means_and_bands_intervals(tmp_path):
    results = load_results(fill(tmp_path, ts=[(0.1, 0.5), (0.2, 1.0), (0.3, 1.5)], old=[1.0, 2.0, 3.0]))
    left, right = regret_figure(results, ["ts", "old"]).axes
    np.testing.assert_allclose(left.lines[0].get_ydata(), 0.2 * np.arange(1, ROUNDS + 1))
    np.testing.assert_allclose(right.lines[0].get_ydata(), 0.2)
    assert len(left.collections) == 2
    regret, share = findings_figure(results, ["ts", "old"]).axes
    np.testing.assert_allclose(regret.lines[0].get_ydata(), np.arange(ROUNDS, 0, -1.0))
    assert len(regret.lines) == len(share.lines) == 1  # of what was recorded
    heights = share.collections[0].get_paths()[0].vertices[:, 1]
    assert 0 <= np.nanmin(heights) <= np.nanmax(heights) <= 1


def drawn_panels(tmp_path, environments, **levels):
    results = load_results(fill(tmp_path, environments, **levels))
    names = dict(zip(results["environment_key"], results["environment_name"], strict=True))
    return panels_figure(results, list(levels), names, agent_lines(list(levels))).axes


def test_panels_stand_as_in_figure_1_with_means_and_deviations_of_their_own_environment(tmp_path):
    models = [
        {"reward_model": reward, "graph_model": graph}
        for reward, graph in itertools.product(("linear", "gp_gntk", "gp_representation"), ("er", "rdpg"))
    ]
    axes_of = drawn_panels(tmp_path, models, a=[1.0, 2.0], b=[None])
    places = [axes.get_subplotspec() for axes in axes_of]
    titles = {
        (place.rowspan.start, place.colspan.start): axes.get_title("left")
        for place, axes in zip(places, axes_of, strict=True)
    }
    assert [re.split(", p|, ", titles[row, 0])[0] for row in (0, 1)] == ["er", "rdpg"]
    assert [titles[1, column].split(", ")[-1] for column in range(3)] == ["linear", "gp_gntk", "gp_representation"]
    (line,), (band,) = axes_of[0].lines, axes_of[0].collections  # what diverged is not drawn
    np.testing.assert_allclose(line.get_ydata(), 1.5 * np.arange(1, ROUNDS + 1))
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(2.0 * ROUNDS)


def test_figure_3_has_a_panel_a_place_of_gradients_and_a_line_a_width(tmp_path):
    cells = {f"{m} {at}": {"width": m, "gradients_at": at} for m in (32, 128, 512) for at in ("current", "initial")}
    results = load_results(fill(tmp_path, settings=cells, **{label: [1.0] for label in cells}))
    figure = settings_figure(results)
    assert [axes.get_title("left") for axes in figure.axes] == ["gradients at = current", "gradients at = initial"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["m = 32", "m = 128", "m = 512"]
    assert settings_figure(results[:5]) is None  # not the whole product


def test_rounds_have_tables_of_what_was_paid_and_found_by_then(tmp_path):
    results = load_results(fill(tmp_path, a=[(1.0, 0.5), (2.0, 1.5)], b=[0.5, 0.5]))
    paid, simple, best = tables_of_rounds(results, [3, 50])
    assert paid[0] == ("mean R_t [95 % interval]", "t = 3", "t = 50")
    assert [(row[0], row[1].split()[0], row[2].split()[0]) for row in paid[1:]] == [
        ("b", "1.5", "25.0"),
        ("a", "4.5", "75.0"),
    ]
    assert [row[0] for row in simple[1:]] == ["a"]
    assert best[1][2].startswith("-1.000 [")
    with pytest.raises(ValueError, match="rounds"):
        tables_of_rounds(results, [51])
