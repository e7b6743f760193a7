"""Estimates of a sweep against what is then played: python -m benchmarks.sweeps.estimates paper-table1 [--rounds 100].

As `graph-bandit sweep --dry-run` does, a calibration estimates each repetition from nothing. Some repetitions, drawn at
random, are then played by the same number of workers, each cut at a number of rounds, and the sum of their estimates is
compared with the time that they take: in wall time, and in CPU time, which other work on the same cores changes less.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial

import registry
from agents.contract import one_thread
from graph_bandit_lab import Processes, count_cores, run_bandit
from graph_bandit_lab.design import Overrides, Repetition
from graph_bandit_lab.execution import calibrate, plan_sweep
from graph_bandit_lab.reports import print_columns

SMALL = {"num_graphs": 4, "num_nodes": 5, "horizon": 3}


def time_play(repetition: Repetition, rounds: int) -> tuple[float, float]:
    """Play a repetition, cut at some rounds, after an uncounted small one; return its wall time and CPU time."""
    for changes in (SMALL, {"horizon": rounds}):
        wall, cpu = time.perf_counter(), time.thread_time()
        with one_thread():
            env = registry.make_environment(**repetition.to_arguments(**changes))
            agent = repetition.make_agent()
            run_bandit(env, agent, repetition.seed, feedback=repetition.feedback)
    return time.perf_counter() - wall, time.thread_time() - cpu


def time_each(repetitions: Sequence[Repetition], rounds: int, workers: int) -> list[tuple[float, float]]:
    """Play repetitions in processes; return wall time and CPU time of each."""
    times: dict[int, tuple[float, float]] = {}
    waiting, flying = list(enumerate(repetitions)), dict[Future[tuple[float, float]], int]()
    with Processes(workers) as processes:
        while waiting or flying:
            while waiting and len(flying) < processes.slots:
                number, repetition = waiting.pop(0)
                flying[processes.submit(time_play, repetition, rounds)] = number
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                times[flying.pop(future)] = future.result()
    return [times[number] for number in range(len(repetitions))]


def main() -> None:
    """Print estimate and time of each repetition that was drawn, and of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sweep", help="a preset or a TOML file")
    parser.add_argument("--fit", default="steps", help="steps or passes")
    parser.add_argument("--environments", nargs="*", default=[], help="only these, as of graph-bandit sweep")
    parser.add_argument("--repetitions", type=int, default=20, help="that are drawn and played")
    parser.add_argument("--rounds", type=int, default=100, help="at which each of them is cut")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--workers", type=int, default=count_cores())
    arguments = parser.parse_args()
    plan = plan_sweep(arguments.sweep, Overrides(fit=arguments.fit, environments=tuple(arguments.environments)))
    drawn = random.Random(arguments.seed).sample(plan.repetitions, arguments.repetitions)  # noqa: S311 - no secrets
    wall = calibrate(plan.repetitions, partial(Processes, arguments.workers))
    cpu = wall.by_cpu()
    hours, free = (sum(costs.each(plan.repetitions)) / arguments.workers / 3600 for costs in (wall, cpu))
    print(f"Calibration: {wall.rounds:,} rounds on {wall.instances} instances in {wall.took:.0f} s.")
    print(f"All {len(plan.repetitions):,}: {hours:.1f} h with {arguments.workers} workers, {free:.1f} h by CPU time.")
    times = time_each(drawn, arguments.rounds, arguments.workers)
    rows: list[tuple[str, ...]] = [("repetition", "K", "N", "reward", "estimated s", "CPU s", "estimated s", "wall s")]
    sums = [0.0] * 4
    for repetition, (played_wall, played_cpu) in zip(drawn, times, strict=True):
        environment = repetition.key.environment
        values = [cpu.seconds(repetition, arguments.rounds), played_cpu]
        values += [wall.seconds(repetition, arguments.rounds), played_wall]
        sums = [total + value for total, value in zip(sums, values, strict=True)]
        sizes = str(environment["num_graphs"]), str(environment["num_nodes"]), str(environment["reward_model"])
        rows.append((repetition.label, *sizes, *(f"{value:.2f}" for value in values)))
    rows.append(("all", "", "", "", *(f"{value:.2f}" for value in sums)))
    print_columns(rows)
    print(f"Estimated over played: {sums[0] / sums[1]:.2f} in CPU time, {sums[2] / sums[3]:.2f} in wall time.")


if __name__ == "__main__":
    main()
