"""Settings of `graph-bandit prepare`; the docstrings are also its `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import tyro

from graph_bandit_campaign.checks import NONE, Salts, check_flags

TRAITS = ("atom_pairs", "morgan", "torsions", "roles", "properties", "descriptors")


@dataclass(frozen=True)
class PrepareSettings:
    """Prepare a pool of any size once, so that it can be read part by part."""

    pool: tyro.conf.Positional[Path]
    """Table of molecules: .csv, .tsv, .txt, .smi or .sdf (each also .gz), .xlsx, or .parquet."""
    out: Path
    """Folder for the prepared pool. The same command continues one that is not finished."""
    smiles: str = "smiles"
    """Column of the SMILES, else one with a usual name; in an SDF file, `smiles` is the structure."""
    id: str | None = None
    """Column of the names; None: `id`, `name` or the like, if the table has such a column."""
    sheet: str | None = None
    """Sheet of a workbook (.xlsx); None: the first."""
    traits: Annotated[tuple[str, ...], tyro.conf.arg(help_behavior_hint="(default: all)")] = TRAITS
    """What is computed of each molecule: atom_pairs, morgan, torsions, roles, properties, descriptors. An agent does
    without what is left out."""
    encoder: str = ""
    """Pretrained encoder whose numbers are computed of each molecule, too: minimol (extra `encoders`), or one that a
    package adds. Empty: none."""
    stereo: bool = False
    """Whether fingerprints tell stereoisomers apart, as in the setting of this name of the agents."""
    most_atoms: int = 250
    """How many atoms a molecule may have, without hydrogens. Fingerprints of 1,000 atoms take half a minute."""
    salts: Salts = "merge"
    """merge: salts and charged molecules are described by their parent, the only organic molecule beside counter-ions
    and water, without charges. separate: each is a molecule of its own, as mixtures and ionic liquids always are."""
    ignore_column: Annotated[tuple[str, ...], NONE] = ()
    """Columns in which replicates may differ. Of any other, but for names, prices, suppliers, dates and comments, it is
    asked."""
    part_rows: int = 49_152
    """Rows of the table in each part, a multiple of 4096. It changes no result."""
    workers: int | None = 0
    """Processes, each on one thread; 0: one for each core; None: this process itself."""
    block: ClassVar[int] = 4096
    """Rows of the table that are read at a time, whatever the part."""

    def __post_init__(self) -> None:
        check_flags(self)
        if self.part_rows < 1 or self.part_rows % self.block:
            raise ValueError(f"Expected `--part-rows` to be a multiple of {self.block}. Got {self.part_rows}.")
        if not self.traits or {*self.traits}.difference(TRAITS):
            raise ValueError(f"Expected `--traits` to be some of {', '.join(TRAITS)}. Got {self.traits}.")
        if self.out.resolve() == self.pool.resolve():
            raise ValueError(f"Expected `--out` to be another folder than the table's. Got {self.out} for both.")
