import re
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.image import imread

from graph_bandit_lab import BanditResult, write_report
from graph_bandit_lab.analysis.statistics import AgentSummary, summarize
from graph_bandit_lab.design import EnvironmentSettings, RunKey
from graph_bandit_lab.formats import format_interval
from graph_bandit_lab.reports.figures import COLORS, agent_lines, regret_figure
from graph_bandit_lab.storage import ResultStore, load_results
from graph_bandit_lab.storage import results as results_module


def fill(folder, **regret):
    """Store these repetitions, given as regret a round; None diverges."""
    environment = EnvironmentSettings(horizon=50).to_dict()
    for label, levels in regret.items():
        key = RunKey(label, {"note": f"<{label}>"}, environment)
        for seed, level in enumerate(levels):
            curve = np.full(50, 0.0 if level is None else level)
            result = BanditResult(curve.astype(int), curve, curve, "diverged" if level is None else "finished")
            ResultStore(folder).add(key, seed, label, result, 1.0)
    return folder


def test_writes_one_page_that_needs_nothing_else_and_a_picture(tmp_path):
    page = write_report(fill(tmp_path, ts=[0.1, 0.3], random=[1.0, 2.0]))
    html = page.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "regret.png",
        "regret.svg",
        "report.html",
        "results.sqlite",
    ]
    assert not re.search(r'(src|href)="(?!#)', html)
    assert "<svg" in html
    assert "10.0 [0.0, 5,742.7]" in html
    assert "&lt;ts&gt;" in html
    assert "Times are wall time of the rounds alone" in html
    assert "do not include imports and compilation" in " ".join(html.split())
    picture = imread(tmp_path / "regret.png")
    assert picture.shape[1] >= 1600
    assert picture.std() > 0.05


def test_a_page_says_that_equal_plays_on_one_instance_count_as_one(tmp_path):
    pool = {"graphs": "digest", "graph_model": "own", "reward_model": "target"}
    environment = EnvironmentSettings(horizon=50).to_dict() | pool
    for seed, level in enumerate([1.0, 1.01, 1.0]):
        curve = np.full(50, level)
        ResultStore(tmp_path).add(
            RunKey("a", {}, environment), seed, "a", BanditResult(curve.astype(int), curve, curve), 1
        )
    page = write_report(tmp_path).read_text()
    assert "50.2 (one trajectory, played 3 times)" in page
    assert "All repetitions play the same graphs with the same mean rewards" in page


def test_a_page_warns_where_agents_played_different_instances(tmp_path):
    warning = "have not all played the same"
    assert warning not in write_report(fill(tmp_path / "equal", ts=[0.1, 0.3], random=[1.0, 2.0])).read_text()
    assert warning in write_report(fill(tmp_path / "unequal", ts=[0.1, 0.3], random=[1.0])).read_text()


def test_a_page_names_all_versions_that_made_its_results(tmp_path, monkeypatch):
    fill(tmp_path, ts=[0.1])
    monkeypatch.setattr(results_module, "software_versions", lambda: {"torch": "9.9"})
    fill(tmp_path, random=[1.0])
    assert ", 9.9" in write_report(tmp_path).read_text()


def test_settings_on_which_agents_agree_are_told_once(tmp_path):
    environment = EnvironmentSettings(horizon=50).to_dict()
    curve = np.ones(50)
    for label, settings in {
        "a": {"width": 31, "steps": 5},
        "b": {"width": 31, "steps": 7},
        "c": {"kernel": "k"},
    }.items():
        result = BanditResult(curve.astype(int), curve, curve)
        ResultStore(tmp_path).add(RunKey(label, settings, environment), 1, label, result, 1.0)
    page = write_report(tmp_path).read_text()
    assert page.count("<td>width</td>") == 1
    assert page.count("<td>steps</td>") == 2
    assert page.count("<td>kernel</td>") == 1


def test_settings_that_depend_on_the_graphs_are_told_with_them(tmp_path):
    curve = np.ones(50)
    for model, width in {"er": 8, "rdpg": 16}.items():
        environment = EnvironmentSettings(graph_model=model, horizon=50).to_dict()
        result = BanditResult(curve.astype(int), curve, curve)
        ResultStore(tmp_path).add(RunKey("a", {"width": width}, environment), 1, "mine", result, 1.0)
    page = write_report(tmp_path).read_text()
    assert "<td>8 (er), 16 (rdpg)</td>" in page
    assert set(load_results(tmp_path)["label"]) == {"mine"}


def test_a_page_shows_settings_only_where_they_mean_something(tmp_path):
    curve = np.ones(50)
    result = BanditResult(curve.astype(int), curve, curve)
    for folder, environment in (("plain", {}), ("late", {"delay": 3, "drift": "walk"})):
        settings = EnvironmentSettings(horizon=50, **environment).to_dict()
        ResultStore(tmp_path / folder).add(RunKey("a", {}, settings), 1, "a", result, 1.0)
    for name in ("announced", "drift_rate"):
        assert f"<td>{name}</td>" not in write_report(tmp_path / "plain").read_text()
        assert f"<td>{name}</td>" in write_report(tmp_path / "late").read_text()


def test_a_page_says_whether_graphs_are_played_once(tmp_path):
    curve = np.ones(50)
    for replacement, title in ((False, "T = 50, each graph once"), (True, "2 environments")):
        environment = EnvironmentSettings(horizon=50, replacement=replacement).to_dict()
        result = BanditResult(curve.astype(int), curve, curve)
        ResultStore(tmp_path).add(RunKey("a", {}, environment), 1, "mine", result, 1.0)
        page = write_report(tmp_path).read_text()
        assert title in page
    assert "<td>False, True</td>" in page


def test_curves_are_means_and_bands_intervals(tmp_path):
    results = load_results(fill(tmp_path, ts=[0.1, 0.3], random=[1.0, 2.0]))
    left, right = regret_figure(results, ["ts", "random"]).axes
    cumulative, average = left.lines[0].get_ydata(), right.lines[0].get_ydata()
    np.testing.assert_allclose(cumulative, 0.2 * np.arange(1, 51))
    np.testing.assert_allclose(average, 0.2)
    assert len(left.collections) == 2


def test_wide_bands_of_few_repetitions_stay_above_zero_and_do_not_set_the_scale(tmp_path):
    results = load_results(fill(tmp_path, ts=[0.1, 0.9]))
    left, right = regret_figure(results, ["ts"]).axes
    for axes in (left, right):
        (band,) = axes.collections
        assert (band.get_paths()[0].vertices[:, 1] > 0).all()
    assert left.get_ylim() == pytest.approx((0, 50))
    assert right.get_ylim()[0] == pytest.approx(0.25)


def test_a_legend_of_many_long_names_fits_the_figure(tmp_path):
    names = [f"gnn-ts:covariance=diagonal,exploration_scale=0.{k}" for k in range(9)]
    figure = regret_figure(load_results(fill(tmp_path, **{name: [0.1, 0.2] for name in names})), names)
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_long_curves_are_thinned_and_keep_their_ends(tmp_path):
    results = load_results(fill(tmp_path, ts=[0.1, 0.3]))
    results["regret"] = [np.ones(5000), np.ones(5000)]
    line = regret_figure(results, ["ts"]).axes[0].lines[0]
    assert len(line.get_xdata()) <= 600
    assert line.get_xdata()[[0, -1]].tolist() == [1, 5000]


@pytest.mark.parametrize(
    "regret", [{"ts": [0.1]}, {"ts": [0.0, 0.0]}, {"ts": [None, None]}, {"ts": [None, 0.5], "random": [1.0, 1.0]}]
)
def test_reports_on_what_little_there_is(tmp_path, regret):
    assert write_report(fill(tmp_path, **regret)).is_file()


def test_refuses_a_folder_with_no_finished_repetition(tmp_path):
    ResultStore(tmp_path)
    with pytest.raises(ValueError, match="None is finished yet"):
        write_report(tmp_path)


def test_the_papers_six_have_their_colours_in_every_company_and_a_twin_has_its_dash():
    six = [f"{network}-{rule} (paper)" for network in ("gnn", "nn") for rule in ("ts", "ucb", "pe")]
    alone, together = agent_lines(six), agent_lines([*six, "gnn-ts", "gntk-ts", "mine"])
    assert {label: together[label] for label in six} == {label: alone[label] for label in six}
    assert alone["gnn-ts (paper)"] == (COLORS[0], "-")
    assert alone["nn-ts (paper)"] == (COLORS[0], "--")
    assert not {together[label][0] for label in ("gnn-ts", "gntk-ts", "mine")} & {color for color, _ in alone.values()}


def test_many_settings_of_one_agent_have_colours_of_their_own():
    lines = agent_lines([f"gnn-ts:steps={k}" for k in range(6)])
    assert len({color for label, (color, _) in lines.items() if label != "random"}) == 6


def test_colours_do_not_depend_on_who_is_best():
    assert agent_lines(["b", "random", "a"]) == agent_lines(["a", "b", "random"])
    assert len(set(agent_lines(list("abcdefghijklmnopqrst")).values())) == 21


@pytest.mark.parametrize(
    ("finished", "text"), [(0, "none finished"), (1, "1,234.5"), (2, "1,234.5 [1,000.0, 1,469.0]")]
)
def test_intervals_are_written_where_there_are_any(finished, text):
    low, high = (1000.0, 1469.0) if finished == 2 else (np.nan, np.nan)
    assert format_interval(AgentSummary("a", finished, 0, 0, 1234.5, low, high, 1.0, np.nan, np.nan, 1.0)) == text


def test_reports_never_import_torch(tmp_path):
    fill(tmp_path, ts=[0.1, 0.3])
    code = f"import sys; from graph_bandit_lab import write_report; write_report({str(tmp_path)!r}); "
    done = subprocess.run([sys.executable, "-c", code + "sys.exit('torch' in sys.modules)"], check=False)
    assert done.returncode == 0


def test_a_page_is_replaced_whole(tmp_path, monkeypatch):
    page = write_report(fill(tmp_path, ts=[0.1, 0.3]))
    before = page.read_text()
    monkeypatch.setattr("os.replace", lambda *paths: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_report(tmp_path)
    assert page.read_text() == before
    assert summarize(load_results(tmp_path))[0].finished == 2
