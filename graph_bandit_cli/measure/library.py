"""`graph-bandit library`: write a pool and a few results to try `suggest` with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Command:
    """Settings of the library."""

    out: Path
    """Folder for pool.csv and measured.csv; or for library.toml, acids.csv, amines.csv and measured.csv."""
    products: bool = False
    """Write a library of products of building blocks, which is never listed, in place of a table of molecules."""
    property: Literal["qed", "logp", "tpsa"] = "qed"
    """Property in the results: drug-likeness, Crippen logP, or polar surface area in square angstroms."""
    measured: int = 30
    """How many of the molecules, drawn at random, have results."""
    seed: int = 0
    """Seed of that draw."""
    overwrite: bool = False
    """Replace files of these names that hold something else. By default they are refused."""

    def run(self) -> int:
        """Write the files."""
        from graph_bandit_campaign import write_library, write_products

        write = write_products if self.products else write_library
        for path in write(self.out, self.property, self.measured, self.seed, self.overwrite):
            print(path)
        return 0
