"""Study pools whose values are known: python -m benchmarks.pools COMMAND ..."""

from __future__ import annotations

import sys
from collections.abc import Callable

import tyro

from benchmarks.pools.coverage import CoverageStudy
from benchmarks.pools.hits import HitsStudy
from benchmarks.pools.replay import ReplayStudy
from benchmarks.pools.study import Study

STUDIES: dict[str, Callable[..., Study]] = {"replay": ReplayStudy, "coverage": CoverageStudy, "hits": HitsStudy}


def main(args: list[str] | None = None) -> int:
    """Run a study, and return the exit code (0 done, 1 failed)."""
    try:
        study = tyro.extras.subcommand_cli_from_dict(STUDIES, args=args, prog="python -m benchmarks.pools")
        return 0 if study.run() else 1
    except (ValueError, OSError, ImportError) as error:
        print(f"benchmarks.pools: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
