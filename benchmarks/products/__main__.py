"""Search libraries of products: python -m benchmarks.products COMMAND ..."""

from __future__ import annotations

import sys
from collections.abc import Callable

import tyro

from benchmarks.products.found import FoundStudy
from benchmarks.products.growth import GrowthStudy, ShortListStudy


def main(args: list[str] | None = None) -> int:
    """Run a study, and return the exit code (0 done, 1 failed)."""
    studies: dict[str, Callable[..., FoundStudy | GrowthStudy | ShortListStudy]] = {
        "found": FoundStudy,
        "growth": GrowthStudy,
        "short-list": ShortListStudy,
    }
    study = tyro.extras.subcommand_cli_from_dict(studies, args=args, prog="python -m benchmarks.products")
    return 0 if study.run() else 1


if __name__ == "__main__":
    sys.exit(main())
