"""Settings of `graph-bandit suggest`; the docstrings are also its `--help`."""

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
from graph_bandit_campaign.constraints.limits.wishes import FILES, Choice, Requirement
from graph_bandit_campaign.pool.source import EMBEDDINGS, Source, check_features
from graph_bandit_campaign.report.tables import KINDS
from graph_bandit_campaign.text import are_one, find_column, split_name
from graph_bandit_lab import count_cores

PAGES = (".html", ".htm")
WORDED = re.compile(r"[^<>≤≥=]+=\s*[^\d\s.+<>≤≥=-].*")  # a limit on a column of text, and not of numbers
ONCE = frozenset(
    (
        *("veto", "pin", "lift", "comment", "by", "undo", "drop_missing", "drop_source", "again", "next_batch"),
        *("overwrite", "workers"),
    )
)
"""Settings that are about one call, or how it is computed, and are not kept."""
FILES_IN_TEXTS: dict[str, str | tuple[str, ...]] = {"features": EMBEDDINGS, "forbid": FILES, "also": ""}
"""Settings of texts, of which those that end so are files; of `also`, each is one, with or without a column."""
NEAR = tyro.conf.arg(name="target", help_behavior_hint="(default: none)")


@dataclass(frozen=True)
class SuggestSettings:
    """Suggest which molecules of a table, or other graphs, to measure next, given the results so far."""

    pool: tyro.conf.Positional[Path]
    """Table of molecules to choose from: .csv, .tsv, .txt, .smi or .sdf (each also .gz), .xlsx, or .parquet; or a
    folder that `graph-bandit prepare` made of one; or a library of products, or combinations, that nobody lists, .toml.
    Or other graphs: .jsonl or .json (also .gz), .graphml, .gexf, .gml, .pt, or a folder of such files or of a TU
    dataset."""
    out: Path
    """Table of the suggestions, with the pool's other columns: .csv, .tsv or .xlsx. The campaign is kept in a
    .campaign.json file next to it."""
    measured: Annotated[tuple[Path, ...], NONE] = ()
    """Tables of results (same formats), all of them in each round, also of molecules not in the pool. They are kept in
    the campaign's file; a row that has changed is corrected there. Without any, structures alone are used."""
    n: int = 8
    """How many molecules to suggest."""
    maximize: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Column of the measured values, if large ones are wanted. Its cells: a number, `failed`, `pending` or nothing.
    With several goals, give --maximize, --minimize and --target as often as there are columns."""
    minimize: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """The same, if small ones are wanted."""
    near: Annotated[tuple[str, ...], NEAR, tyro.conf.UseAppendAction] = ()
    """The same, if values in a range or near it are wanted: "logd=1..3"."""
    weights: Annotated[tuple[str, ...], NONE] = ()
    """Weights of the goals, as activity=2 logd=1, to choose by a weighted sum in standard deviations of the results;
    none: to find the front, the molecules that no other one beats in every goal."""
    goal_kind: Annotated[tuple[str, ...], NONE] = ()
    """What a column of measured values holds: COLUMN=number or COLUMN=class. By default two classes alone (0 and 1, no
    and yes, inactive and active, ...) are a class, of which the probability of a hit is predicted."""
    noise: str | None = None
    """Column of the results with the standard deviation of each value, in its units; an empty cell: not known."""
    also: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Results of another assay, of molecules in the pool or not: a table, FILE or FILE:COLUMN, of values, bounds or two
    classes; or the file of another campaign. They teach, as far as the results tell that both go together, and are
    never asked for. Give --also once for each."""
    features: Annotated[tuple[str, ...], NONE] = ()
    """Columns of numbers of your own, in pool and perhaps results, that help to predict: docking scores, for example.
    One that ends in .npz or .parquet is a file of embeddings."""
    encoder: str = ""
    """Pretrained encoder whose numbers help to predict: minimol (extra `encoders`), or one that a package adds. Empty:
    none, or what a prepared pool has."""
    smiles: str = "smiles"
    """Column of the SMILES, in pool and results, else one with a usual name; in an SDF file, `smiles` is the structure.
    """
    id: str | None = None
    """Column of the names, in pool and results; None: `id`, `name` or the like, if the pool has such a column."""
    sheet: str | None = None
    """Sheet of the pool, if it is a workbook (.xlsx); None: the first."""
    measured_sheet: str | None = None
    """Sheet of the results, if they are workbooks; None: the first."""
    require: Annotated[tuple[str, ...], NONE] = ()
    """Limits on what is suggested, in quotation marks: "mw<500" "logp=1..4". Each names a column of numbers of the pool
    or, where there is none, a property: mw, logp, tpsa, hbd, hba, rotatable_bonds, rings, aromatic_rings, qed, charge,
    heavy_atoms, heteroatoms, fraction_sp3, stereocentres, exact_mass, molar_refractivity; or else a column of the
    results, whose values are predicted. A word, as in ligand=XPhos, is one of --only."""
    forbid: Annotated[tuple[str, ...], NONE] = ()
    """Substructures that are not suggested: SMARTS, .txt files with one SMARTS a line, or catalogs of RDKit (pains,
    brenk, nih, zinc, chembl, and others)."""
    only: Annotated[tuple[str, ...], NONE] = ()
    """Values of columns of text of the pool, without which nothing is suggested: stock=yes vendor=A,B."""
    price: str | None = None
    """Column of the pool with prices, or one price for all, such as 12.5. What is best for the money is suggested."""
    budget: float | None = None
    """What the suggestions may cost in all. There are never more than --n, and fewer if the money ends first."""
    budget_only: bool = False
    """Let prices count for --budget alone: what is best is suggested, as far as it can be paid for."""
    at_most: int | None = None
    """How many suggestions may be of one group, which --per names."""
    per: str | None = None
    """Group that --at-most counts: a column of text of the pool, such as a vendor; or scaffold, by RDKit."""
    ignore_failures: bool = False
    """Suggest molecules that are likely to fail, too. (That is learnt once five failed and five were measured.)"""
    predictions: Path | None = None
    """Table to write (same kinds), with a prediction for every molecule of the pool, and its state."""
    html: Path | None = None
    """Page to write, with the drawn structures and the progress of the campaign."""
    agent: str | None = None
    """Agent that chooses, with settings after a colon: molecule-ts, molecule-greedy, molecule-ucb:short_list=100.
    None: molecule-ei for one molecule, molecule-ucb for several; for other graphs gp-ei and gp-ucb, by ranks."""
    seed: int = 0
    """Seed of all randomness."""
    workers: int | None = 0
    """Most processes that read the molecules; 0: one for each core; None: this process itself."""
    veto: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Molecule that is not to be suggested, ID or ID=REASON; it teaches nothing about others. If it is one of the last
    suggestions, another takes its place. Give --veto once for each."""
    pin: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Molecule that is to be in the next batch, ID. Give --pin once for each."""
    lift: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Molecule whose veto or pin is taken back, ID. Give --lift once for each."""
    comment: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Text to keep about a molecule, ID=TEXT. Give --comment once for each."""
    by: str = ""
    """Who gives these vetoes and comments."""
    undo: bool = False
    """First undo the last round, as if it had not been suggested, and say which molecules that were. Results stay."""
    drop_missing: bool = False
    """Remove results whose rows a table had before and lacks now."""
    drop_source: Annotated[tuple[Path, ...], NONE] = ()
    """Tables whose results are removed. All others of which results are known have to be named by --measured."""
    again: bool = False
    """Allow molecules that were suggested before and have no result; else they count as pending."""
    next_batch: bool = False
    """Suggest another batch although no result came in; else the answer is the batch that waits."""
    overwrite: bool = False
    """Replace files that this campaign did not write, or that were changed since. By default they are refused."""
    most_atoms: int = 250
    """How many atoms a molecule may have, without hydrogens. Fingerprints of 1,000 atoms take half a minute."""
    salts: Salts = "merge"
    """merge: salts and charged molecules are described by their parent, the only organic molecule beside counter-ions
    and water, without charges. separate: each is a molecule of its own, as mixtures and ionic liquids always are."""
    slot: Annotated[tuple[str, ...], NONE, tyro.conf.UseAppendAction] = ()
    """Column of the pool that is a part of what is chosen, COLUMN or NAME=COLUMN: a row is a reaction, mixture or
    experiment then. Columns of structures are slots, too, unless one is named here; a column of words holds categories,
    one of numbers numbers, and an empty cell means nothing. Give --slot once for each."""
    ignore_column: Annotated[tuple[str, ...], NONE] = ()
    """Columns of the pool in which rows of one entry may differ, as replicates do. Of others, but for names, prices,
    suppliers, dates and comments, it is asked."""
    best_of: str | None = None
    """Goal of which the best row of an entry counts, such as that of docking poses; None: the mean of its rows."""
    directed: bool | None = None
    """Keep the directions of edges (True), or drop them (False); None: as a file of other graphs says. Molecules are
    undirected."""
    skip_bad_rows: bool = False
    """Leave out rows of the pool that are not molecules, and those whose id two molecules have."""
    allow_outside: bool = False
    """Read tables of building blocks that lie elsewhere than in the folder of a library of products, or below."""

    def __post_init__(self) -> None:
        check_flags(self)
        for name in ("maximize", "minimize", "near", "also", "slot"):
            given = getattr(self, name) or ()
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        worded = tuple(text for text in self.require if WORDED.fullmatch(text))  # such as ligand=XPhos
        object.__setattr__(self, "require", tuple(text for text in self.require if text not in worded))
        object.__setattr__(self, "only", (*self.only, *worded))
        if not self.goals:
            raise ValueError("Expected either `--maximize COLUMN` or `--minimize COLUMN`, or several goals. Got none.")
        check_goals(self.goals)
        check_least(self, {"n": 1, "most_atoms": 1, "workers": 0})
        check_features(self.features, self.quantities, self.smiles, self.id)
        self.kind_of(self.target)
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
        """Refuse columns of the goals for what is no goal."""
        limits: list[Requirement | Choice] = [*map(Requirement.parse, self.require), *map(Choice.parse, self.only)]
        others = [(limit.name, limit.text) for limit in limits]
        others += [(name, name) for name in (self.price, self.per, self.noise) if name]
        goals = {*map(str.casefold, self.quantities)}
        if wrong := next((text for name, text in others if name.casefold() in goals), ""):
            raise ValueError(f"Expected columns that are no goals for limits, prices, groups and noise. Got `{wrong}`.")

    @property
    def marked(self) -> frozenset[str]:
        """Return what may be the ids of vetoes, pins and comments: each begin of `ID=TEXT` before an `=`, too."""
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
        """Return the pool, and how it is read."""
        return Source.of(self, self.pool, directed=self.directed, workers=self.workers)

    @property
    def terms(self) -> Terms:
        """Return what a batch may cost and hold."""
        same = ("price", "budget", "budget_only", "per", "at_most")
        return Terms(count=self.n, **{name: getattr(self, name) for name in same})

    @property
    def processes(self) -> int:
        """Return how many processes may work on molecules in memory."""
        return count_cores() if self.workers == 0 else self.workers or 1

    @cached_property
    def goals(self) -> tuple[Goal, ...]:
        """Return what is wanted of each column of measured values."""
        ranges = [*map(Requirement.parse, self.near)]
        names = [*self.maximize, *self.minimize, *(limit.name for limit in ranges)]
        weights = {name: float(number) for name, number in _by_goal("weights", self.weights, names).items()}
        goals = [Goal(name, weight=weights.get(name)) for name in self.maximize]
        goals += [Goal(name, "minimize", weight=weights.get(name)) for name in self.minimize]
        goals += [Goal(limit.name, "target", *limit.ends, weight=weights.get(limit.name)) for limit in ranges]
        return tuple(goals)

    def kind_of(self, quantity: str) -> Kind:
        """Return what a column of measured values is said to be; an empty text if nothing is said.

        Raises:
            ValueError: if something else is said, or of another column.
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
    def target(self) -> str:
        """Return the first of them."""
        return self.quantities[0]

    @property
    def outputs(self) -> list[Path]:
        """Return the files that are written beside the campaign, the suggestions first."""
        return [path for path in (self.out, self.predictions, self.html) if path is not None]

    @property
    def state(self) -> Path:
        """Return the file of the campaign, next to the file that `out` leads to if it is a symbolic link."""
        out = self.out.resolve()
        return out.with_name(out.stem + ".campaign.json")


def change_files(given: Mapping[str, Any], change: Callable[[Path], Path]) -> dict[str, Any]:
    """Return settings by name with other paths; files that are named in texts count, too.

    Args:
        given: the settings.
        change: returns the other path.
    """

    def changed(name: str, value: Any) -> Any:
        if isinstance(value, tuple | list):
            return tuple(changed(name, each) for each in value)
        if isinstance(value, Path):
            return change(value)
        if not isinstance(value, str) or not value.lower().endswith(FILES_IN_TEXTS.get(name, ())):
            return value
        path, column = split_name(value) if name == "also" else (Path(value), None)
        return change(path).as_posix() + (f":{column}" if column is not None else "")

    return {name: changed(name, value) for name, value in given.items()}


def _by_goal(option: str, texts: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return what `NAME=VALUE` says of each of some goals."""
    said = dict[str, str]()
    for text in texts:
        written, _, value = text.rpartition("=")
        name = find_column(written, names, "the goals")
        if not name or name in said:
            raise ValueError(f"Expected each of the goals {', '.join(names)} once in `--{option}`. Got {text!r}.")
        said[name] = value
    return said
