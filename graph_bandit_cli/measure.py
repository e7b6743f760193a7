"""Commands for measurements: `suggest`, `example-data` and `cache`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from graph_bandit_campaign import SuggestSettings


def suggest(settings: SuggestSettings) -> None:
    """Choose molecules to measure, and write the suggestions, campaign and page."""
    report_progress("Loading the model.")
    from graph_bandit_campaign import listening  # here, because torch takes a second to load
    from graph_bandit_campaign import suggest as choose

    with listening(report_progress):
        choose(settings)


def report_progress(line: str) -> None:
    """Print a line of progress only on a terminal, not to logs or other programs."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class ExampleOptions:
    """Settings of the example data."""

    out: Path
    """Folder for pool.csv and measured.csv. For products, it gets library.toml, acids.csv, amines.csv and measured.csv.
    For reactions, it gets reactions.csv, measured.csv, and lab.csv with all yields."""
    products: bool = False
    """Write a library of building blocks and their virtual products instead of a table of molecules."""
    reactions: bool = False
    """Write 880 reactions with invented yields instead of a table of molecules."""
    property: Literal["qed", "logp", "tpsa"] = "qed"
    """Property that stands in for an assay: drug-likeness, Crippen logP, or polar surface area in square angstroms."""
    measured: int = 30
    """Number of molecules with results, drawn at random."""
    seed: int = 0
    """Seed of the random choice."""
    overwrite: bool = False
    """Replace files with these names and other content. By default, they cause an error."""


def example_data(options: ExampleOptions) -> None:
    """Write a pool and a few results to try `suggest` with."""
    from graph_bandit_campaign import write_example_data

    given = options.out, options.property, options.measured, options.seed, options.overwrite
    for path in write_example_data(*given, products=options.products, reactions=options.reactions):
        print(path)


@dataclass(frozen=True)
class CacheOptions:
    """Settings of the cache."""

    clear: bool = False
    """Delete the cache. Its content is computed again when needed."""


def cache(options: CacheOptions) -> None:
    """Print the cache folder and its size, and clear it on request."""
    from graph_bandit_env.storage import cache_path, clear_cache, measure_cache

    count, size = measure_cache()
    if options.clear:
        clear_cache()
    files = "1 file" if count == 1 else f"{count:,} files"
    print(f"{cache_path()}: {files}, {size / 1e6:,.1f} MB{' deleted' if options.clear else ''}.")
