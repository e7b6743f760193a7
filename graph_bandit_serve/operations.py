"""What can be done to campaigns, declared once: REST, tools of language models and forms are made of this table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool, StrictFloat

LONGEST = 2_000
Text = Annotated[str, Field(max_length=LONGEST)]
Table = Annotated[str, Field(max_length=LONGEST, description="A table of the folder by its place, or `upload:TOKEN`.")]


class Asked(BaseModel):
    """The arguments of an operation."""

    model_config = ConfigDict(use_attribute_docstrings=True, extra="forbid", frozen=True)


class Nothing(Asked):
    """No arguments."""


class Result(Asked):
    """A result that was really measured. A prediction or an invented value is none."""

    id: Text = ""
    """Id of what was measured; it may be left out with a SMILES."""
    value: StrictFloat | StrictBool | Text
    """A number; or, as text, a bound such as ">4.5", or "failed"; of a class 1 or 0, or a word for these."""
    goal: Text = ""
    """Name of the measured quantity; it may be left out with one goal."""
    noise: StrictFloat | Text = ""
    """Standard deviation of the value; empty: it is not known."""
    smiles: Text = ""
    """Structure of a molecule that has no id here."""


class Tell(Asked):
    """Results."""

    results: list[Result] = Field(min_length=1, max_length=10_000)
    """All are taken in, or none."""
    instead: bool = False
    """Whether values replace those that were typed of the same graphs, and empty ones remove them; else both count."""
    by: Text = ""
    """Who tells them."""


class Ask(Asked):
    """A round of suggestions."""

    changes: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of `suggest` that change from now on: n, maximize, minimize, target, weights, require, forbid, filter,
    price, budget, budget_only, max_per_group, group_by, ignore_failures."""
    next_batch: bool = False
    """Whether another batch is wanted although no result came in."""


class Mark(Asked):
    """What people say of a graph. It teaches nothing about others."""

    id: Text
    """Id of the graph, as in the pool."""
    veto: StrictBool | Text | None = None
    """True, or why, if it is not to be suggested; false lifts a veto. `ask` puts another in its place."""
    pin: StrictBool | None = None
    """Whether it is to be in the next batch."""
    comment: Text = ""
    """A text to keep about it."""
    waits: StrictBool | None = None
    """False if nobody measures it now."""
    by: Text = ""
    """Who says so."""


class Ids(Asked):
    """Graphs."""

    ids: list[Text] = Field(min_length=1, max_length=20)
    """Their ids."""


class Preview(Asked):
    """A table of results."""

    table: Table
    columns: dict[str, Text] = Field(default_factory=dict)
    """Columns of the table by `id`, `smiles` and the names of goals, where they are not found by themselves."""
    sheet: Text | None = None
    """Sheet of a workbook; null: the first."""


class Rows(Asked):
    """Rows of a table that the campaign has written."""

    which: Literal["suggestions", "predictions"] = "predictions"
    """Which table."""
    sort: Text = ""
    """Name of a column; empty: as they stand."""
    falling: bool = False
    """Whether the largest come first."""
    contains: Text = ""
    """Text that one of the cells contains."""
    part: Text = ""
    """SMARTS of a substructure that each molecule has."""


class Page(Rows):
    """Some of these rows."""

    start: int = Field(default=0, ge=0)
    """How many rows are passed over."""
    count: int = Field(default=100, ge=1, le=1_000)
    """Most rows that are returned."""


class File(Rows):
    """The same rows as a file, in base64."""

    which: Literal["suggestions", "predictions"] = "suggestions"
    """Which table."""
    kind: Literal[".csv", ".tsv", ".xlsx"] = ".csv"
    """Ending of the file."""


class New(Asked):
    """A new campaign."""

    name: Text
    """Its name."""
    pool: Table
    measured: list[Table] = Field(default_factory=list, max_length=50)
    """Tables of results so far."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of `suggest`, such as `maximize`, a list of columns, and `n`."""
    suggest: bool = True
    """Whether a first round is suggested."""


class Look(Asked):
    """A table, read as a pool."""

    pool: Table
    smiles: Text = "smiles"
    """Column of the SMILES."""
    id: Text | None = None
    """Column of the names; null: one with a usual name."""
    sheet: Text | None = None
    """Sheet of a workbook; null: the first."""
    slot: list[Text] = Field(default_factory=list)
    """Columns of the slots of experiments, COLUMN or NAME=COLUMN; none: those of SMILES, if there are several."""


@dataclass(frozen=True)
class Operation:
    """Something that can be done."""

    asked: type[Asked]
    """Its arguments."""
    help: str
    """What it does, for programs and language models."""
    changes: bool = False
    """Whether it changes the campaign."""
    looks: bool = False
    """Whether it is short and changes nothing, so that a person may have one beside a job of another kind."""
    of_folder: bool = False
    """Whether it is about the folder, and not about one campaign."""
    for_tools: bool = True
    """Whether language models may use it: they take nothing back."""


OPERATIONS: dict[str, Operation] = {
    "tell": Operation(
        Tell, "Take in results: all of them or, if one is wrong, none. Several values of one id are replicates.", True
    ),
    "ask": Operation(
        Ask,
        "Suggest the next batch. Without new results or changes, the pending batch is returned. It may take minutes "
        "with a large pool.",
        True,
    ),
    "mark": Operation(Mark, "Veto or pin a graph, take that back, or keep a comment about it.", True),
    "undo": Operation(Nothing, "Take back the last change: results, a round or marks.", True, for_tools=False),
    "redo": Operation(Nothing, "Make the change again that was undone last.", True, for_tools=False),
    "explain": Operation(
        Ids, "Explain some graphs of the pool: predictions, contributions to them, and similar measured graphs."
    ),
    "stopping_advice": Operation(
        Nothing,
        "Return the probability that further measurements find a better graph, with advice to continue or stop.",
    ),
    "preview": Operation(
        Preview, "Preview a table of results row by row, before it is imported. It changes nothing.", looks=True
    ),
    "rows": Operation(Page, "Return rows of the suggestions, or of the predictions of all candidates.", looks=True),
    "file": Operation(File, "Return such rows as a file, in base64.", looks=True, for_tools=False),
    "new": Operation(New, "Start a campaign from a table, and suggest a first round.", True, of_folder=True),
    "look": Operation(
        Look, "Look at a table before a campaign starts: molecules, columns, bad rows.", looks=True, of_folder=True
    ),
}
"""All operations by their names."""
