"""Runs of the laboratory in little."""

from graph_bandit_lab import EnvironmentSettings, RunSettings, load_results, run_experiment

AGENTS = ("gnn-ts:width=8,steps=2", "random")


def settings(out, **changes):
    environment = {"num_graphs": 5, "num_nodes": 4, "horizon": 8, **changes.pop("environment", {})}
    return RunSettings(
        out=out,
        environment=EnvironmentSettings(**environment),
        **{"agents": AGENTS, "repetitions": 2, **changes},
    )


def run(out, **changes):
    return run_experiment(settings(out, **{"progress": False, **changes}))


def rows(out):
    return {(row.label, row.seed): row for row in load_results(out).itertuples()}
