"""Summarize learning curves that examples wrote: python -m benchmarks.policies.curves FILE.csv ... --out FIGURE.png.

The examples of CleanRL, TorchRL and RLlib write such files with `--out`.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import tyro

from benchmarks.policies.figure import draw_curves
from graph_bandit_lab.reports import print_columns

SHARE = 0.1  # of random's regret, which a curve is to reach
COLUMNS = (
    "learner",
    "rounds",
    "CPU seconds",
    "seconds",
    "rounds in all",
    "CPU seconds",
    "regret, % of random",
    "seeds",
)


def reach(curve: pd.DataFrame) -> pd.Series[float]:
    """Return the row of a curve from which on regret stays at most a tenth of random's.

    Args:
        curve: rows of one training in their order, with `relative_regret`.

    Raises:
        ValueError: if the curve ends above a tenth.
    """
    above = (curve["relative_regret"] > SHARE).to_numpy()
    if above[-1]:
        raise ValueError(
            f"Expected curves that end at a tenth of random's regret or less. Got {curve.iloc[-1].to_dict()}."
        )
    since: pd.Series[float] = curve.iloc[len(above) - above[::-1].argmax() if above.any() else 0]
    return since


def summarize(tests: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the header and rows of a table: what each learner needs to reach a tenth of random's regret, and its end.

    The first are the largest numbers over the seeds; those of the end are means, with the least and the most regret.

    Args:
        tests: rows with `learner`, `seed`, `steps`, `relative_regret`, `seconds` and `cpu_seconds`.

    Raises:
        ValueError: if a curve ends above a tenth.
    """
    table: list[tuple[str, ...]] = [COLUMNS]
    for learner, rows in tests.groupby("learner", sort=False):
        curves = [curve for _, curve in rows.groupby("seed", sort=False)]
        first = pd.DataFrame([reach(curve) for curve in curves])
        last = pd.DataFrame([curve.iloc[-1] for curve in curves])
        regret = 100 * last["relative_regret"]
        table.append(
            (
                str(learner),
                f"{first['steps'].max():,}",
                f"{first['cpu_seconds'].max():.0f}",
                f"{first['seconds'].max():.0f}",
                f"{last['steps'].max():,}",
                f"{last['cpu_seconds'].mean():.0f}",
                f"{regret.mean():.2f} [{regret.min():.2f}, {regret.max():.2f}]",
                str(len(curves)),
            )
        )
    return table


def main(files: tyro.conf.Positional[tuple[Path, ...]], out: Path | None = None) -> None:
    """Print the table, and draw the curves.

    Args:
        files: files that examples wrote by `--out`.
        out: PNG or SVG file to write; None: nothing is drawn.
    """
    tests = pd.concat([pd.read_csv(file) for file in files])
    print_columns(summarize(tests), markdown=True)
    if out is not None:
        draw_curves(tests, out)


if __name__ == "__main__":
    tyro.cli(main, prog="python -m benchmarks.policies.curves")
