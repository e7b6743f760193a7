"""Settings of `graph-bandit suggest`; the docstrings are also its `--help`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, cast

import tyro

from graph_bandit_campaign.checks import NONE, Kind, Salts, check_flags
from graph_bandit_campaign.constraints.batch.batch import Terms
from graph_bandit_campaign.constraints.goals.goal import Goal, check_goals
from graph_bandit_campaign.constraints.limits.wishes import Choice, Requirement
from graph_bandit_campaign.pool.source import Source, check_features, split_features
from graph_bandit_campaign.report.tables import KINDS
from graph_bandit_campaign.text import are_one, find_column, split_name
from graph_bandit_lab import count_cores

PAGES = (".html", ".htm")
NEAR = tyro.conf.arg(name="target", help_behavior_hint="(default: none)")


@dataclass(frozen=True)
class SuggestSettings:
    """Suggest which molecules of a table, or other graphs, to measure next, given the results so far."""

    pool: tyro.conf.Positional[Path]
    """Table of molecules to choose from: .csv, .tsv, .txt, .smi or .sdf (each also .gz), .xlsx, or .parquet; or a
    folder that `graph-bandit prepare` made of one; or a library of products that nobody lists, .toml. Or other graphs:
    .jsonl or .json (also .gz), .graphml, .gexf, .gml, .pt, or a folder of such files or of a TU dataset."""
    out: Path
    """Table of the suggestions, with the pool's other columns: .csv, .tsv, .xlsx or .sdf. The campaign is kept in a
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
    results, whose values are predicted."""
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
    trust_ids: bool = False
    """Take a row for the molecule with its id although the SMILES is that of another molecule."""
    most_atoms: int = 250
    """How many atoms a molecule may have, without hydrogens. Fingerprints of 1,000 atoms take half a minute."""
    salts: Salts = "merge"
    """merge: salts and charged molecules are described by their parent, the only organic molecule beside counter-ions
    and water, without charges. separate: each is a molecule of its own, as mixtures and ionic liquids always are."""
    entry_column: Annotated[tuple[str, ...], NONE] = ()
    """Columns of the pool that are part of what an entry is, such as solvent and temperature: rows of one molecule that
    differ there are different entries. A second column of structures always is one."""
    ignore_column: Annotated[tuple[str, ...], NONE] = ()
    """Columns of the pool in which rows of one molecule may differ, as replicates do. Of others, but for names, prices,
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
        for name in ("maximize", "minimize", "near", "also"):
            given = getattr(self, name) or ()
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        if not self.goals:
            raise ValueError("Expected either `--maximize COLUMN` or `--minimize COLUMN`, or several goals. Got none.")
        check_goals(self.goals)
        for name, count, least in (("n", self.n, 1), ("most-atoms", self.most_atoms, 1), ("workers", self.workers, 0)):
            if count is not None and count < least:
                raise ValueError(f"Expected `--{name}` to be at least {least}. Got {count}.")
        taken = {*map(str.casefold, self.quantities), self.smiles, self.id or "id"}
        if self.noise is not None and not taken.isdisjoint((self.noise, self.noise.casefold())):
            raise ValueError(f"Expected `--noise` to be a column of its own. `{self.noise}` is used already.")
        check_features(self.features, self.quantities, self.smiles, self.id)
        if self.best_of is not None and [goal.name for goal in self.goals] != [self.best_of]:
            raise ValueError(f"Expected `--best-of` to be the only goal. Got {self.best_of}.")
        self.kind_of(self.target)
        self._check_marks()
        self._check_limits()
        self._check_batch()
        if any(are_one(split_name(text)[0], self.state) for text in self.also):
            raise ValueError(
                f"Expected results of another campaign for `--also`. {self.state} is that of this command."
            )
        also = [path for text in self.also for path in (Path(text), split_name(text)[0])]
        others = [
            self.pool,
            *self.measured,
            *also,
            *split_features(self.features)[1],
            *map(Path, self.forbid),
            self.state,
        ]
        for name, path in (("out", self.out), ("html", self.html), ("predictions", self.predictions)):
            if path is not None and any(are_one(path, other) for other in others):
                raise ValueError(f"Expected `--{name}` to differ from all other files. Got {path}.")
            others += [] if path is None else [path]
            kinds = PAGES if name == "html" else KINDS
            if path is not None and not path.name.lower().endswith(kinds):
                raise ValueError(f"Expected `--{name}` to end in {', '.join(kinds)}. Got {path}.")

    def _check_marks(self) -> None:
        if bad := next((text for text in self.comment if not text.partition("=")[2].strip()), None):
            raise ValueError(f"Expected `--comment ID=TEXT`. Got {bad}.")
        if self.by and not (self.veto or self.comment):
            raise ValueError(f"Expected `--veto` or `--comment` with `--by {self.by}`. Got none.")

    @property
    def marked(self) -> frozenset[str]:
        """Return what may be the ids of vetoes, pins and comments: each begin of `ID=TEXT` before an `=`, too."""
        texts = (*self.veto, *self.comment)
        begins = (text[:place] for text in texts for place in range(len(text)) if text[place] == "=")
        return frozenset((*begins, *texts, *self.pin, *self.lift))

    def _check_limits(self) -> None:
        limits: list[Requirement | Choice] = [*map(Requirement.parse, self.require), *map(Choice.parse, self.only)]
        for limit in limits:
            if limit.name.casefold() in map(str.casefold, self.quantities):
                raise ValueError(
                    f"Expected limits on other quantities than the target, whose values are predicted. Got "
                    f"`{limit.text}`. Leave it out: molecules are chosen for good values of `{limit.name}` already."
                )

    def _check_batch(self) -> None:
        if (self.at_most is None) != (self.per is None):
            raise ValueError("Expected `--at-most` and `--per` together, as in `--at-most 2 --per scaffold`.")
        if self.at_most is not None and self.at_most < 1:
            raise ValueError(f"Expected `--at-most` to be at least 1. Got {self.at_most}.")
        if self.budget is not None and (self.price is None or not 0 < self.budget < math.inf):
            got = f"{self.budget:g}" if self.price else "no price"
            raise ValueError(f"Expected `--budget` to be positive and finite, with `--price`. Got {got}.")
        if self.budget_only and self.budget is None:
            raise ValueError("Expected `--budget-only` with `--budget`. Got no budget.")
        one_price = self.terms.one_price
        if one_price is not None and not 0 < one_price < math.inf:
            raise ValueError(f"Expected `--price` to be a column, or positive and finite. Got {self.price}.")
        for name, column in (("price", self.price), ("per", self.per)):
            if column is not None and column.casefold() in map(str.casefold, self.quantities):
                raise ValueError(f"Expected `--{name}` to be another column than the target. Got `{column}`.")

    @property
    def source(self) -> Source:
        """Return the pool, and how it is read."""
        return Source.of(self, self.pool, directed=self.directed, workers=self.workers)

    @property
    def terms(self) -> Terms:
        """Return what a batch may cost and hold."""
        return Terms(
            count=self.n,
            price=self.price,
            budget=self.budget,
            budget_only=self.budget_only,
            per=self.per,
            at_most=self.at_most,
        )

    @property
    def processes(self) -> int:
        """Return how many processes may work on molecules in memory."""
        return count_cores() if self.workers == 0 else self.workers or 1

    @cached_property
    def goals(self) -> tuple[Goal, ...]:
        """Return what is wanted of each column of measured values."""
        ranges = [*map(Requirement.parse, self.near)]
        names = [*self.maximize, *self.minimize, *(limit.name for limit in ranges)]
        weights = dict[str, float]()
        for text in self.weights:
            written, _, number = text.rpartition("=")
            try:
                weight = float(number)
            except ValueError as error:
                raise ValueError(f"Expected `--weights` such as activity=2 logd=1. Got {text!r}.") from error
            name = find_column(written, names, "the goals")
            if not name:
                raise ValueError(f"Expected `--weights` of the goals {', '.join(names)}. Got {text!r}.")
            if name in weights:
                raise ValueError(f"Expected one weight of `{name}` in `--weights`. Got a second one, {text!r}.")
            weights[name] = weight
        goals = [Goal(name, weight=weights.get(name)) for name in self.maximize]
        goals += [Goal(name, "minimize", weight=weights.get(name)) for name in self.minimize]
        for limit in ranges:
            low, high = limit.ends
            goals.append(Goal(limit.name, "target", low, high, weight=weights.get(limit.name)))
        return tuple(goals)

    def kind_of(self, quantity: str) -> Kind:
        """Return what a column of measured values is said to be; an empty text if nothing is said.

        Raises:
            ValueError: if something else is said, or of another column.
        """
        kinds = dict[str, str]()
        for text in self.goal_kind:
            name, _, kind = text.rpartition("=")
            if name.casefold() not in map(str.casefold, self.quantities) or kind not in ("class", "number"):
                raise ValueError(
                    "Expected `--goal-kind COLUMN=number` or `COLUMN=class`, with one of the columns "
                    f"{', '.join(self.quantities)}. Got {text!r}."
                )
            kinds[name.casefold()] = kind
        return cast(Kind, kinds.get(quantity.casefold(), ""))

    @property
    def quantities(self) -> tuple[str, ...]:
        """Return the columns of the measured values."""
        return tuple(goal.name for goal in self.goals)

    @property
    def target(self) -> str:
        """Return the first of them."""
        return self.quantities[0]

    @property
    def state(self) -> Path:
        """Return the file of the campaign, next to the file that `out` leads to if it is a symbolic link."""
        out = self.out.resolve()
        return out.with_name(out.stem + ".campaign.json")
