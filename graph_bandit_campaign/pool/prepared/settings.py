"""Settings of `graph-bandit prepare`, whose docstrings are also its `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import tyro

from graph_bandit_campaign.checks import NONE, Salts, check_flags

DESCRIPTORS = ("atom_pairs", "ecfp", "torsions", "fcfp", "properties", "rdkit")


@dataclass(frozen=True)
class PrepareSettings:
    """Prepare a pool of any size once, so that it can be read part by part."""

    pool: tyro.conf.Positional[Path]
    """Table of molecules: .csv, .tsv, .txt, .smi or .sdf (each also .gz), .xlsx, or .parquet."""
    out: Path
    """Folder for the prepared pool. If it is unfinished, the same command continues it."""
    smiles: str = "smiles"
    """SMILES column. If it is missing, a column with a usual name is used. In an SDF file, `smiles` is the
    structure."""
    id: str | None = None
    """Column of names. By default it is `id`, `name` or the like, if there is one."""
    sheet: str | None = None
    """Sheet of a workbook. By default the first."""
    descriptors: Annotated[tuple[str, ...], tyro.conf.arg(help_behavior_hint="(default: all)")] = DESCRIPTORS
    """Descriptors to compute: atom_pairs, ecfp, torsions, fcfp, properties, rdkit. Agents compare molecules without the
    others."""
    encoder: str = ""
    """Pretrained encoder to run on each molecule: minimol. It needs the extra `encoders`; packages can add others."""
    stereo: bool = False
    """Whether fingerprints distinguish stereoisomers. It must agree with the setting `stereo` of the agent."""
    most_atoms: int = 250
    """Maximum number of atoms of a molecule, without hydrogens. Fingerprints of 1,000 atoms take half a minute."""
    salts: Salts = "merge"
    """How to read salts. merge: a salt or charged molecule is described by its parent, the only organic component
    without counter-ions, water and charges. separate: each form is its own molecule. Mixtures and ionic liquids always
    are."""
    ignore_column: Annotated[tuple[str, ...], NONE] = ()
    """Columns in which replicate rows may differ. Names, prices, suppliers, dates and comments always may."""
    part_rows: int = 49_152
    """Rows of the table in each part, a multiple of 4096. Results do not depend on it."""
    workers: int | None = 0
    """Number of processes, each on one thread. 0: one for each core; None: only this process."""
    block: ClassVar[int] = 4096
    """Rows of the table that are read at a time, whatever the part."""

    def __post_init__(self) -> None:
        check_flags(self)
        if self.part_rows < 1 or self.part_rows % self.block:
            raise ValueError(f"Expected `--part-rows` to be a multiple of {self.block}. Got {self.part_rows}.")
        if not self.descriptors or {*self.descriptors}.difference(DESCRIPTORS):
            raise ValueError(
                f"Expected `--descriptors` to be some of {', '.join(DESCRIPTORS)}. Got {self.descriptors}."
            )
        if self.out.resolve() == self.pool.resolve():
            raise ValueError(f"Expected `--out` to be another folder than the table's. Got {self.out} for both.")
