"""Settings of `graph-bandit suggest`, whose docstrings are also its `--help`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import numpy as np
import tyro

from graph_bandit_campaign.checks import NONE, Kind, Salts, check_flags, check_least
from graph_bandit_campaign.constraints.batch.batch import Terms
from graph_bandit_campaign.constraints.goals.goal import Goal, check_goals
from graph_bandit_campaign.constraints.limits.requirements import FILES, Choice, Requirement
from graph_bandit_campaign.pool.source import EMBEDDINGS, Source, check_features
from graph_bandit_campaign.report.tables import KINDS
from graph_bandit_campaign.text import are_one, find_column, split_name
from graph_bandit_lab import count_cores

PAGES = (".html", ".htm")
WORDED = re.compile(r"[^<>≤≥=]+=\s*[^\d\s.+<>≤≥=-].*")  # a limit on a column of text, and not of numbers
ONCE = frozenset(
    (
        *("veto", "pin", "lift", "comment", "user", "undo", "drop_missing", "drop_source", "again", "next_batch"),
        *("overwrite", "workers"),
    )
)
"""Settings for a single call, or for its computation, which are not saved."""
FILES_IN_TEXTS: dict[str, str | tuple[str, ...]] = {"features": EMBEDDINGS, "forbid": FILES, "related_assay": ""}
"""Text settings with the endings of texts that are files. Each `related_assay` is a file, with or without a column."""


@dataclass(frozen=True)
class SuggestSettings:
    """Suggest which molecules of a table, or other graphs, to measure next, given the results so far."""

    pool: tyro.conf.Positional[Path]
    """Table of candidates: .csv, .tsv, .txt, .smi or .sdf (each also .gz), .xlsx or .parquet. Or a folder made by
    `graph-bandit prepare`, a combinatorial library (.toml), or other graphs: .jsonl or .json (also .gz), .graphml,
    .gexf, .gml, .pt, or a folder of such files or of a TU dataset."""
    out: Path
    """Table of suggestions to write: .csv, .tsv or .xlsx. It has the other columns of the pool. The campaign is saved
    next to it in a .campaign.json file."""
    measured: Annotated[tuple[Path, ...], NONE] = ()
    """Tables of all results so far. They have the same formats as the pool, and may contain molecules outside it.
    Results are saved in the campaign file, and changed rows are corrected there. Without results, the choice is based
    on structures alone."""
    n: int = 8
    """Number of molecules to suggest."""
    maximize: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Results column in which large values are good. A cell is a number, `failed`, `pending` or empty. For several
    goals, repeat --maximize, --minimize and --target."""
    minimize: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Results column in which small values are good."""
    target: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Results column in which a range is good: "logd=1..3"."""
    weights: Annotated[tuple[str, ...], NONE] = ()
    """Weights of several goals: activity=2 logd=1. The choice maximizes the weighted sum, in standard deviations of the
    results. Without weights, it looks for the Pareto front."""
    goal_kind: Annotated[tuple[str, ...], NONE] = ()
    """Type of a results column: COLUMN=number or COLUMN=class. By default, a column with exactly two classes (0 and 1,
    no and yes, inactive and active, ...) is a class, and the probability of a hit is predicted."""
    noise: str | None = None
    """Results column of standard deviations, in the units of the values. An empty cell means unknown."""
    related_assay: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Results of another assay, to learn from: FILE or FILE:COLUMN. The table may hold values, bounds or two classes
    for any molecules. The file of another campaign works as well. The results are used to the extent that the two
    assays correlate. Repeat --related-assay for each assay."""
    features: Annotated[tuple[str, ...], NONE] = ()
    """Numeric columns that help to predict, such as docking scores. They are in the pool, and optionally in the
    results. A name that ends in .npz or .parquet is a file of embeddings."""
    encoder: str = ""
    """Pretrained encoder that helps to predict: minimol. It needs the extra `encoders`; packages can add others. By
    default a prepared pool uses its own."""
    smiles: str = "smiles"
    """SMILES column of pool and results. If it is missing, a column with a usual name is used. In an SDF file, `smiles`
    is the structure."""
    id: str | None = None
    """Column of names in pool and results. By default it is `id`, `name` or the like, if there is one."""
    sheet: str | None = None
    """Sheet of the pool, if it is a workbook. By default the first."""
    measured_sheet: str | None = None
    """Sheet of the results, if they are workbooks. By default the first."""
    require: Annotated[tuple[str, ...], NONE] = ()
    """Numeric limits, in quotation marks: "mw<500" "logp=1..4". Each names a numeric column of the pool; otherwise a
    property (mw, logp, tpsa, hbd, hba, rotatable_bonds, rings, aromatic_rings, qed, charge, heavy_atoms, heteroatoms,
    fraction_sp3, stereocentres, exact_mass, molar_refractivity); otherwise a column of the results, whose values are
    predicted. A word, as in ligand=XPhos, works like --filter."""
    forbid: Annotated[tuple[str, ...], NONE] = ()
    """Substructures to exclude: SMARTS, .txt files of them, or RDKit catalogs such as pains. Files have one SMARTS per
    line. Other catalogs are brenk, nih, zinc and chembl."""
    filter: Annotated[tuple[str, ...], NONE] = ()
    """Allowed values of text columns: stock=yes vendor=A,B."""
    price: str | None = None
    """Price column of the pool, or one price for all. The choice then weighs value for money."""
    budget: float | None = None
    """Maximum total price of the batch. The batch has at most --n molecules, and fewer if the money runs out."""
    budget_only: bool = False
    """Use prices only for --budget. The best molecules that fit the budget are suggested, whatever each costs."""
    max_per_group: int | None = None
    """Maximum number of suggestions in each group of --group-by."""
    group_by: str | None = None
    """Text column that defines groups, such as a vendor; or scaffold."""
    ignore_failures: bool = False
    """Also suggest molecules that are likely to fail. By default they are avoided once five molecules have failed and
    five were measured."""
    predictions: Path | None = None
    """Table to write with a prediction for every molecule of the pool."""
    html: Path | None = None
    """Web page to write, with structures and progress."""
    agent: str | None = None
    """Algorithm that chooses, with settings after a colon: molecule-ucb:short_list=100. By default molecule-ei for one
    molecule, molecule-ucb for several, and gp-ei and gp-ucb (on ranks) for other graphs."""
    seed: int = 0
    """Random seed."""
    workers: int | None = 0
    """Number of processes that read molecules. 0: one for each core; None: only this process."""
    veto: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Molecule not to suggest: ID or ID=REASON. The model learns nothing from it. A vetoed suggestion of the last batch
    is replaced. Repeat --veto for each molecule."""
    pin: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Molecule to include in the next batch: ID. Repeat --pin for each molecule."""
    lift: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Molecule whose veto or pin is removed: ID. Repeat --lift for each molecule."""
    comment: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Comment about a molecule: ID=TEXT. Repeat --comment for each molecule."""
    user: str = ""
    """Name of the person who gives vetoes and comments."""
    undo: bool = False
    """First undo the last round, and list its molecules. Results are kept."""
    drop_missing: bool = False
    """Remove results whose rows have disappeared from their table."""
    drop_source: Annotated[tuple[Path, ...], NONE] = ()
    """Tables whose results are removed. All other tables with results must be given by --measured."""
    again: bool = False
    """Allow molecules that were suggested before and have no result. By default they count as pending."""
    next_batch: bool = False
    """Suggest another batch although the last one has no results yet. By default the last batch is printed again."""
    overwrite: bool = False
    """Replace output files that this campaign did not write, or that were changed since."""
    most_atoms: int = 250
    """Maximum number of atoms of a molecule, without hydrogens. Fingerprints of 1,000 atoms take half a minute."""
    salts: Salts = "merge"
    """How to read salts. merge: a salt or charged molecule is described by its parent, the only organic component
    without counter-ions, water and charges. separate: each form is its own molecule. Mixtures and ionic liquids always
    are."""
    slot: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Column that is one part of an experiment: COLUMN or NAME=COLUMN. Each row is then a reaction, a mixture or
    another experiment. Columns of structures are slots unless one is named here. A text column holds categories, a
    numeric column numbers, and an empty cell means absent. Repeat --slot for each column."""
    ignore_column: Annotated[tuple[str, ...], NONE] = ()
    """Columns in which replicate rows of the pool may differ. Names, prices, suppliers, dates and comments always
    may."""
    best_of: str | None = None
    """Goal whose best row counts for a molecule with several rows, as for docking poses. By default their mean
    counts."""
    directed: bool | None = None
    """Whether edges of other graphs keep their directions. By default the file decides. Molecules are undirected."""
    skip_bad_rows: bool = False
    """Skip rows of the pool that are not molecules, and rows whose id occurs for two molecules."""
    allow_outside: bool = False
    """Read building blocks from outside the folder of a combinatorial library."""

    def __post_init__(self) -> None:
        check_flags(self)
        for name in ("maximize", "minimize", "target", "related_assay", "slot"):
            given = getattr(self, name) or ()
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        worded = tuple(text for text in self.require if WORDED.fullmatch(text))  # such as ligand=XPhos
        object.__setattr__(self, "require", tuple(text for text in self.require if text not in worded))
        object.__setattr__(self, "filter", (*self.filter, *worded))
        if not self.goals:
            raise ValueError("Expected either `--maximize COLUMN` or `--minimize COLUMN`, or several goals. Got none.")
        check_goals(self.goals)
        check_least(self, {"n": 1, "most_atoms": 1, "workers": 0})
        check_features(self.features, self.quantities, self.smiles, self.id)
        self.kind_of(self.quantity)
        if self.best_of is not None and [goal.name for goal in self.goals] != [self.best_of]:
            raise ValueError(f"Expected `--best-of` to be the only goal. Got {self.best_of}.")
        if bad := next((text for text in self.comment if not text.partition("=")[2].strip()), None):
            raise ValueError(f"Expected `--comment ID=TEXT`. Got {bad}.")
        self._check_columns()
        self.terms.constraints(np.array([1.0 if self.terms.one_price is None else self.terms.one_price]), [""], 1)
        for path in (*self.outputs, self.state):
            if sum(are_one(path, other) for other in self.files()) > 1:
                raise ValueError(f"Expected `--out`, `--predictions` and `--html` to be own files. Got {path}.")
            kinds = PAGES if path == self.html else KINDS
            if path != self.state and not path.name.lower().endswith(kinds):
                raise ValueError(f"Expected a file that ends in {', '.join(kinds)}. Got {path}.")

    def _check_columns(self) -> None:
        """Raise an error if a column of a goal is also used as another column."""
        limits: list[Requirement | Choice] = [*map(Requirement.parse, self.require), *map(Choice.parse, self.filter)]
        others = [(limit.name, limit.text) for limit in limits]
        others += [(name, name) for name in (self.price, self.group_by, self.noise) if name]
        goals = {*map(str.casefold, self.quantities)}
        if wrong := next((text for name, text in others if name.casefold() in goals), ""):
            raise ValueError(f"Expected columns that are no goals for limits, prices, groups and noise. Got `{wrong}`.")

    @property
    def marked(self) -> frozenset[str]:
        """Return the possible ids of vetoes, pins and comments, including each part of `ID=TEXT` before an `=`."""
        texts = (*self.veto, *self.comment)
        begins = (text[:place] for text in texts for place in range(len(text)) if text[place] == "=")
        return frozenset((*begins, *texts, *self.pin, *self.lift))

    def files(self) -> list[Path]:
        """Return all files and folders that the command reads or writes."""
        found = [self.state]

        def note(path: Path) -> Path:
            found.append(path)
            return path

        change_files(vars(self), note)
        return found

    @property
    def source(self) -> Source:
        """Return the pool and its reading options."""
        return Source.of(self, self.pool, directed=self.directed, workers=self.workers)

    @property
    def terms(self) -> Terms:
        """Return the limits on cost and groups of a batch."""
        same = ("price", "budget", "budget_only", "group_by", "max_per_group")
        return Terms(count=self.n, **{name: getattr(self, name) for name in same})

    @property
    def processes(self) -> int:
        """Return the number of processes for molecules in memory."""
        return count_cores() if self.workers == 0 else self.workers or 1

    @cached_property
    def goals(self) -> tuple[Goal, ...]:
        """Return the goal for each column of measured values."""
        ranges = [*map(Requirement.parse, self.target)]
        names = [*self.maximize, *self.minimize, *(limit.name for limit in ranges)]
        weights = {name: float(number) for name, number in _by_goal("weights", self.weights, names).items()}
        goals = [Goal(name, weight=weights.get(name)) for name in self.maximize]
        goals += [Goal(name, "minimize", weight=weights.get(name)) for name in self.minimize]
        goals += [Goal(limit.name, "target", *limit.ends, weight=weights.get(limit.name)) for limit in ranges]
        return tuple(goals)

    def kind_of(self, quantity: str) -> Kind:
        """Return the declared kind of a column of measured values, or an empty text.

        Raises:
            ValueError: if the declaration is invalid, or is for another column.
        """
        kind = _by_goal("goal-kind", self.goal_kind, self.quantities).get(quantity, "")
        if kind not in get_args(Kind):
            raise ValueError(f"Expected `--goal-kind {quantity}=number` or `{quantity}=class`. Got {kind!r}.")
        return cast(Kind, kind)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Return the columns of the measured values."""
        return tuple(goal.name for goal in self.goals)

    @property
    def quantity(self) -> str:
        """Return the first column of measured values."""
        return self.quantities[0]

    @property
    def outputs(self) -> list[Path]:
        """Return the files to write besides the campaign, the suggestions first."""
        return [path for path in (self.out, self.predictions, self.html) if path is not None]

    @property
    def state(self) -> Path:
        """Return the file of the campaign, next to `out`. If `out` is a symbolic link, it is next to the target."""
        out = self.out.resolve()
        return out.with_name(out.stem + ".campaign.json")


def change_files(given: Mapping[str, Any], change: Callable[[Path], Path]) -> dict[str, Any]:
    """Return settings by name with changed paths, including those of files named in texts.

    Args:
        given: the settings.
        change: returns the new path.
    """

    def changed(name: str, value: Any) -> Any:
        if isinstance(value, tuple | list):
            return tuple(changed(name, each) for each in value)
        if isinstance(value, Path):
            return change(value)
        if not isinstance(value, str) or not value.lower().endswith(FILES_IN_TEXTS.get(name, ())):
            return value
        path, column = split_name(value) if name == "related_assay" else (Path(value), None)
        return change(path).as_posix() + (f":{column}" if column is not None else "")

    return {name: changed(name, value) for name, value in given.items()}


def _by_goal(option: str, texts: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return the values of `NAME=VALUE` by goal."""
    said = dict[str, str]()
    for text in texts:
        written, _, value = text.rpartition("=")
        name = find_column(written, names, "the goals")
        if not name or name in said:
            raise ValueError(f"Expected each of the goals {', '.join(names)} once in `--{option}`. Got {text!r}.")
        said[name] = value
    return said
