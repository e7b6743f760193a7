import pytest

from graph_bandit_lab import EnvironmentSettings, RunSettings, load_results, run_experiment
from graph_bandit_lab.reports import tables_of_rounds


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("rounds")
    small = EnvironmentSettings(num_graphs=6, num_nodes=4, horizon=12)
    run_experiment(RunSettings(out=out, agents=("random", "lin-ucb"), environment=small, repetitions=2, progress=False))
    return out


def test_each_measure_has_a_table_of_means_after_these_rounds(folder):
    results = load_results(folder)
    paid, simple, best = tables_of_rounds(results, [3, 12])
    assert paid[0] == ("mean R_t [95 % interval]", "t = 3", "t = 12")
    assert [row[0] for row in paid[1:]] == [row[0] for row in simple[1:]] == [row[0] for row in best[1:]]
    cells = {label: values for label, *values in paid[1:]}
    for label, mine in results.groupby("label"):
        for cell, t in zip(cells[label], (3, 12), strict=True):
            assert cell.startswith(f"{mine['regret'].map(lambda regret, t=t: regret[:t].sum()).mean():.1f} [")
    found = {label: values for label, *values in best[1:]}
    assert found["random"][1].startswith(f"{results[results['label'] == 'random']['final_best_found'].mean():.3f} [")


def test_what_changes_from_round_to_round_has_no_table_of_what_was_found(tmp_path):
    changing = EnvironmentSettings(num_graphs=6, num_nodes=4, horizon=5, resample_graphs="round")
    run_experiment(RunSettings(out=tmp_path, agents=("random",), environment=changing, repetitions=1, progress=False))
    assert [rows[0][0] for rows in tables_of_rounds(load_results(tmp_path), [5])] == ["mean R_t [95 % interval]"]


@pytest.mark.parametrize("rounds", [[0], [13], []])
def test_refuses_rounds_that_were_not_played(folder, rounds):
    with pytest.raises(ValueError, match="Expected rounds from 1 to 12, the shortest repetition. Got"):
        tables_of_rounds(load_results(folder), rounds)
