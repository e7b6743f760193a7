"""Tables, pages and figures of what was found, and pages of results without it."""

from dataclasses import replace

import numpy as np
import pytest

from graph_bandit_cli.main import main
from graph_bandit_lab import BanditResult, load_results, write_report
from graph_bandit_lab.design import EnvironmentSettings, RunKey
from graph_bandit_lab.reports import further_tables, table_of
from graph_bandit_lab.reports.figures import findings_figure
from graph_bandit_lab.reports.findings import findings_of_run, findings_of_sweep
from graph_bandit_lab.storage import ResultStore

ROUNDS = 4


def fill(folder, num_graphs=(20,), **levels):
    """Store repetitions with these simple regrets at the end, K / 20 times as large; None was not recorded."""
    for count in num_graphs:
        environment = EnvironmentSettings(num_graphs=count, horizon=ROUNDS).to_dict()
        for label, simple in levels.items():
            for seed, level in enumerate(simple):
                regret = np.ones(ROUNDS)
                result = BanditResult(regret.astype(int), regret, regret)
                if level is not None:
                    falling = level * count / 20 * np.arange(ROUNDS, 0, -1)
                    share = np.array([0.0, 0.0, 0.0, level < 1])
                    result = replace(result, simple_regret=falling, best_found=-falling, top_share=share)
                ResultStore(folder).add(RunKey(label, {"note": label}, environment), seed, label, result, 1.0)
    return folder


def test_bands_of_shares_lie_between_0_and_1(tmp_path):
    results = load_results(fill(tmp_path, a=[0.5, 1.5, 0.5]))
    (band,) = findings_figure(results, ["a"]).axes[1].collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert 0 <= np.nanmin(heights) <= np.nanmax(heights) <= 1


def column(table, name):
    place = table[0].index(name)
    return {row[0]: row[place] for row in table[1:]}


def test_the_table_of_a_run_has_what_was_found_after_the_last_round(tmp_path):
    table = table_of(load_results(fill(tmp_path, a=[0.5, 1.5], b=[0.25, 0.25])))
    assert column(table, "simple regret [95 % interval]") == {
        "a": "1.000 [0.002, 574.272]",
        "b": "0.250",
    }
    assert column(table, "top 1 %") == {"a": "50.0 %", "b": "100.0 %"}


@pytest.mark.parametrize(("count", "level", "tables"), [((20,), 0.5, 0), ((20, 40), 0.5, 2), ((20, 40), None, 1)])
def test_each_measure_has_a_table_of_environments_where_there_are_several(tmp_path, count, level, tables):
    results = load_results(fill(tmp_path, count, a=[level], b=[level]))
    of_means = [rows for rows in further_tables(results) if rows[0][0].startswith("mean ")]
    assert [len(rows) - 1 for rows in of_means] == [len(count)] * tables


def test_an_agent_without_the_columns_has_dashes_beside_those_with_them(tmp_path):
    findings = findings_of_run(load_results(fill(tmp_path, old=[None, None], new=[0.5, None])))
    assert findings == {"old": ("–", "–"), "new": ("0.500", "100.0 %")}


def test_results_of_earlier_versions_give_tables_and_pages_without_it(tmp_path):
    page = write_report(fill(tmp_path / "run", a=[None], b=[None])).read_text()
    assert "imple regret" not in page
    assert not (tmp_path / "run" / "findings.png").exists()
    assert len(table_of(load_results(tmp_path / "run"))[0]) == 5
    page = write_report(fill(tmp_path / "sweep", (20, 40), a=[None], b=[None])).read_text()
    assert "imple regret" not in page
    assert findings_of_sweep(load_results(tmp_path / "sweep")) == [{}]
    assert len(table_of(load_results(tmp_path / "sweep"))[0]) == 6


def test_the_page_of_a_run_has_a_column_and_a_figure_of_it(tmp_path):
    page = write_report(fill(tmp_path, a=[0.5, 1.5], b=[0.25, 0.25])).read_text()
    assert "<h2>What was found</h2>" in page
    assert "1.000 [0.002, 574.272]" in page
    assert (tmp_path / "findings.svg").is_file()


def test_over_environments_simple_regret_is_relative_to_the_largest(tmp_path):
    """Means are 1 and 0.25 on one environment, and twice that on the other."""
    results = load_results(fill(tmp_path, (20, 40), a=[0.5, 1.5], b=[0.25, 0.25]))
    assert findings_of_sweep(results) == [{"a": ("1.000", "50.0 %"), "b": ("0.250", "100.0 %")}]
    assert column(table_of(results), "relative simple regret") == {"a": "1.000", "b": "0.250"}


def test_the_page_and_the_tables_of_a_sweep_have_it_on_each_environment(tmp_path, capsys):
    fill(tmp_path, (20, 40), a=[0.5, 1.5], b=[0.25, 0.25])
    assert main(["report", str(tmp_path), "--markdown"]) == 0
    assert "| K = 40 | 2.000 | 0.500 |" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text()
    assert "<td>K = 40</td><td>2.000</td><td><strong>0.500</strong></td>" in page
    assert (tmp_path / "findings.png").is_file()


def test_curves_are_means_of_the_repetitions_that_recorded_them(tmp_path):
    results = load_results(fill(tmp_path, a=[0.5, 1.5, None], old=[None]))
    left, right = findings_figure(results, ["a", "old"]).axes
    ((regret,), (share,)) = left.lines, right.lines
    np.testing.assert_allclose(regret.get_ydata(), [4.0, 3.0, 2.0, 1.0])
    np.testing.assert_allclose(share.get_ydata(), [0.0, 0.0, 0.0, 0.5])


@pytest.mark.parametrize(("before", "after", "verdict"), [(2.0, 1.0, "better"), (1.0, 2.0, "worse")])
def test_the_command_compares_simple_regret_in_a_table_of_its_own(tmp_path, capsys, before, after, verdict):
    folders = [str(fill(tmp_path / str(level), a=[level, level * 1.1])) for level in (before, after)]
    assert main(["compare", *folders]) == 0
    paid, found = capsys.readouterr().out.split("\n\n")
    assert "no difference seen" in paid
    assert "simple regret before" in found
    assert found.strip().endswith(verdict)


def test_folders_without_it_are_compared_as_before(tmp_path, capsys):
    folders = [str(fill(tmp_path / name, a=[level])) for name, level in (("before", None), ("after", 1.0))]
    assert main(["compare", *folders]) == 0
    assert "simple regret" not in capsys.readouterr().out
