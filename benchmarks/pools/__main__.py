"""Study pools whose values are known: python -m benchmarks.pools COMMAND ..."""

from __future__ import annotations

import sys
from collections.abc import Callable

import tyro

from benchmarks.pools.assays.screens import ScreensStudy
from benchmarks.pools.assays.study import AssaysStudy
from benchmarks.pools.studies.architectures import ArchitecturesStudy
from benchmarks.pools.studies.backtests import ShuffledStudy
from benchmarks.pools.studies.coverage import CoverageStudy
from benchmarks.pools.studies.failing import FailingStudy
from benchmarks.pools.studies.prices import PricesStudy
from benchmarks.pools.studies.promises import PromisesStudy
from benchmarks.pools.studies.replay import ReplayStudy
from benchmarks.pools.studies.salts import SaltsStudy
from benchmarks.pools.studies.sources import SourcesStudy
from benchmarks.pools.studies.stopping import StoppingStudy
from benchmarks.pools.study import Study

STUDIES: dict[str, Callable[..., Study]] = {
    "replay": ReplayStudy,
    "coverage": CoverageStudy,
    "failing": FailingStudy,
    "shuffled": ShuffledStudy,
    "salts": SaltsStudy,
    "promises": PromisesStudy,
    "stopping": StoppingStudy,
    "prices": PricesStudy,
    "assays": AssaysStudy,
    "also": SourcesStudy,
    "screens": ScreensStudy,
    "architectures": ArchitecturesStudy,
}


def main(args: list[str] | None = None) -> int:
    """Run a study, and return the exit code (0 done, 1 refused or failed, 130 stopped)."""
    try:
        study = tyro.extras.subcommand_cli_from_dict(STUDIES, args=args, prog="python -m benchmarks.pools")
        return 0 if study.run() else 1
    except KeyboardInterrupt:
        print("\nStopped. Finished plays are kept if `--out` names a file.", file=sys.stderr)
        return 130
    except (ValueError, OSError, ImportError) as error:
        print(f"benchmarks.pools: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
