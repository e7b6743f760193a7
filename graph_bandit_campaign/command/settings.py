"""Settings of `graph-bandit suggest`; the docstrings are also its `--help`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from graph_bandit_campaign.limits.wishes import Choice, Requirement

EMBEDDINGS = (".npz", ".parquet")  # features that end so are files
NONE = tyro.conf.arg(help_behavior_hint="(default: none)")  # for empty tuples, in `--help`


@dataclass(frozen=True)
class SuggestSettings:
    """Suggest which molecules of a table, or other graphs, to measure next, given the results so far."""

    pool: tyro.conf.Positional[Path]
    """Table of molecules to choose from: .csv, .tsv, .txt, .smi or .sdf (each also .gz), .xlsx, or .parquet. Or other
    graphs: .jsonl (also .gz), .pt, or a table of cells of NAS-Bench-201."""
    out: Path
    """CSV file of the suggestions, which is replaced. The campaign is kept in a .campaign.json file next to it."""
    measured: Annotated[tuple[Path, ...], NONE] = ()
    """Tables of results (same formats), also of molecules not in the pool. Without any, structures alone are used."""
    n: int = 8
    """How many molecules to suggest."""
    maximize: str | None = None
    """Column of the measured values, if large ones are wanted. Its cells: a number, `failed`, `pending` or nothing."""
    minimize: str | None = None
    """The same, if small ones are wanted."""
    features: Annotated[tuple[str, ...], NONE] = ()
    """Columns of numbers of your own, in pool and perhaps results, that help to predict: docking scores, for example.
    One that ends in .npz or .parquet is a file of embeddings."""
    smiles: str = "smiles"
    """Column of the SMILES, in pool and results; in an SDF file, `smiles` is the structure."""
    id: str | None = None
    """Column of the names, in pool and results; None: `id`, if the pool has such a column."""
    sheet: str | None = None
    """Sheet of the pool, if it is a workbook (.xlsx); None: the first."""
    measured_sheet: str | None = None
    """Sheet of the results, if they are workbooks; None: the first."""
    require: Annotated[tuple[str, ...], NONE] = ()
    """Limits on what is suggested, in quotation marks: "mw<500" "logp=1..4". Each names a column of numbers of the pool
    or, where there is none, a property: mw, logp, tpsa, hbd, hba, rotatable_bonds, rings, aromatic_rings, qed, charge,
    heavy_atoms, heteroatoms, fraction_sp3, stereocentres, exact_mass, molar_refractivity."""
    forbid: Annotated[tuple[str, ...], NONE] = ()
    """Substructures that are not suggested: SMARTS, .txt files with one SMARTS a line, or catalogs of RDKit (pains,
    brenk, nih, zinc, chembl, and others)."""
    only: Annotated[tuple[str, ...], NONE] = ()
    """Values of columns of text of the pool, without which nothing is suggested: stock=yes vendor=A,B."""
    ignore_failures: bool = False
    """Suggest molecules that are likely to fail, too; else not, once five failed and five were measured."""
    predictions: Path | None = None
    """CSV file to write, with a prediction for every molecule of the pool, and its state."""
    html: Path | None = None
    """Page to write, with the drawn structures and the progress of the campaign."""
    agent: str | None = None
    """Agent that chooses, with settings after a colon: molecule-ts, molecule-greedy, molecule-ucb:short_list=100.
    None: molecule-ei for one molecule, molecule-ucb for several, gnn-ts:steps=1000 for other graphs."""
    seed: int = 0
    """Seed of all randomness."""
    undo: bool = False
    """First undo the last round, as if it had not been suggested."""
    forget: bool = False
    """Continue although results of earlier rounds are missing from the tables."""
    again: bool = False
    """Allow molecules that were suggested before and have no result; else they count as pending."""
    more: bool = False
    """Suggest another batch although no result came in; else the same command gives the same suggestions again."""
    trust_ids: bool = False
    """Take a row for the molecule with its id although the SMILES is that of another molecule."""
    most_atoms: int = 250
    """How many atoms a molecule may have, without hydrogens. Fingerprints of 1,000 atoms take half a minute."""
    skip_bad_rows: bool = False
    """Leave out rows of the pool that are not molecules, and those whose id two molecules have."""

    def __post_init__(self) -> None:
        if (self.maximize is None) == (self.minimize is None):
            raise ValueError("Expected either `--maximize COLUMN` or `--minimize COLUMN`.")
        for name, count in (("n", self.n), ("most-atoms", self.most_atoms)):
            if count < 1:
                raise ValueError(f"Expected `--{name}` to be at least 1. Got {count}.")
        self._check_features()
        self._check_limits()
        read = (self.pool, *self.measured, *self.embeddings, *map(Path, self.forbid), self.state)
        paths = [path.resolve() for path in read]
        for name, path in (("out", self.out), ("html", self.html), ("predictions", self.predictions)):
            if path is not None and path.resolve() in paths:
                raise ValueError(f"Expected `--{name}` to differ from all other files. Got {path}.")
            paths += [] if path is None else [path.resolve()]

    def _check_features(self) -> None:
        taken = {self.target: "the target", self.smiles: "the SMILES", self.id or "id": "the names"}
        for column in self.feature_columns:
            if column in taken:
                raise ValueError(
                    f"Expected `--features` to be other columns than the target, the SMILES and the names. `{column}` "
                    f"is that of {taken[column]}."
                )
        names = (*self.feature_columns, *(path.name for path in self.embeddings))
        if not all(names) or len(set(names)) < len(names):
            raise ValueError(f"Expected `--features` with different names. Got {', '.join(self.features)}.")

    def _check_limits(self) -> None:
        limits: list[Requirement | Choice] = [*map(Requirement.parse, self.require), *map(Choice.parse, self.only)]
        for limit in limits:
            if limit.name.casefold() == self.target.casefold():
                raise ValueError(
                    f"Expected limits on other quantities than the target, whose values are predicted. Got "
                    f"`{limit.text}`. Leave it out: molecules are chosen for good values of `{self.target}` already."
                )

    @property
    def embeddings(self) -> tuple[Path, ...]:
        """Return the features that are files of embeddings."""
        return tuple(Path(feature) for feature in self.features if feature.lower().endswith(EMBEDDINGS))

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """Return the features that are columns of the tables."""
        return tuple(feature for feature in self.features if not feature.lower().endswith(EMBEDDINGS))

    @property
    def target(self) -> str:
        """Return the column of the measured values."""
        return self.maximize or self.minimize or ""

    @property
    def state(self) -> Path:
        """Return the file of the campaign, next to the file that `out` leads to if it is a symbolic link."""
        out = self.out.resolve()
        return out.with_name(out.stem + ".campaign.json")
