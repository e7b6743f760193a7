"""Operations on campaigns, declared once. REST, tools for language models and forms are generated from this table."""

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
    """A measured result. Do not enter predictions or invented values."""

    id: Text = ""
    """Id of the measured graph. It is optional if `smiles` is given."""
    value: StrictFloat | StrictBool | Text
    """A number. As text: a bound such as ">4.5", or "failed". For a class: 1 or 0, or a word for it."""
    goal: Text = ""
    """Name of the measured goal. It is optional if the campaign has one goal."""
    noise: StrictFloat | Text = ""
    """Standard deviation of the value. Leave it empty if it is unknown."""
    smiles: Text = ""
    """SMILES of a molecule without an id in the campaign."""


class Tell(Asked):
    """Results to add to a campaign."""

    results: list[Result] = Field(min_length=1, max_length=10_000)
    """The results. If one is invalid, none is added."""
    instead: bool = False
    """If true, values replace those entered earlier for the same graphs, and empty values delete them. Otherwise, they
    are replicates."""
    by: Text = ""
    """Name of the person who enters the results."""


class Ask(Asked):
    """A round of suggestions."""

    changes: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of `suggest` to change for this and later rounds: n, maximize, minimize, target, weights, require,
    forbid, filter, price, budget, budget_only, max_per_group, group_by, ignore_failures."""
    next_batch: bool = False
    """If true, suggest another batch even without new results."""


class Annotate(Asked):
    """A veto, pin or comment for a graph. The model does not learn from it."""

    id: Text
    """Id of the graph, as in the pool."""
    veto: StrictBool | Text | None = None
    """True or a reason excludes the graph from suggestions, and `ask` replaces it. False lifts the veto."""
    pin: StrictBool | None = None
    """True adds the graph to the next batch. False lifts the pin."""
    comment: Text = ""
    """Comment to store with the graph."""
    waits: StrictBool | None = None
    """True marks the graph as pending. False marks it as not being measured, so it can be suggested again."""
    by: Text = ""
    """Name of the person who makes the change."""


class Ids(Asked):
    """Graphs to explain."""

    ids: list[Text] = Field(min_length=1, max_length=20)
    """Ids of the graphs."""


class Preview(Asked):
    """A table of results to preview."""

    table: Table
    columns: dict[str, Text] = Field(default_factory=dict)
    """Column names by role, if they are not detected automatically. Roles are `id`, `smiles` and the names of goals."""
    sheet: Text | None = None
    """Sheet of a workbook. If null, the first sheet."""


class Rows(Asked):
    """Rows of a table of the campaign."""

    which: Literal["suggestions", "predictions"] = "predictions"
    """Table to read."""
    sort: Text = ""
    """Column to sort by. If empty, the rows keep the order of the table."""
    falling: bool = False
    """If true, sort in descending order."""
    contains: Text = ""
    """Return only rows with a cell that contains this text."""
    part: Text = ""
    """Return only molecules with this substructure, a SMARTS pattern."""


class Page(Rows):
    """A page of these rows."""

    start: int = Field(default=0, ge=0)
    """Number of rows to skip."""
    count: int = Field(default=100, ge=1, le=1_000)
    """Maximum number of rows to return."""


class File(Rows):
    """The same rows as a file in base64."""

    which: Literal["suggestions", "predictions"] = "suggestions"
    """Table to read."""
    kind: Literal[".csv", ".tsv", ".xlsx"] = ".csv"
    """File extension."""


class New(Asked):
    """A new campaign."""

    name: Text
    """Name of the campaign."""
    pool: Table
    measured: list[Table] = Field(default_factory=list, max_length=50)
    """Tables with the results measured so far."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of `suggest`, such as `n`, and `maximize` with a list of columns."""
    suggest: bool = True
    """If true, suggest the first round."""


class Look(Asked):
    """A table to read as a pool."""

    pool: Table
    smiles: Text = "smiles"
    """Column with the SMILES."""
    id: Text | None = None
    """Column with the ids. If null, a column with a usual name is chosen."""
    sheet: Text | None = None
    """Sheet of a workbook. If null, the first sheet."""
    slot: list[Text] = Field(default_factory=list)
    """Columns with the slots of experiments, as COLUMN or NAME=COLUMN. If empty and several columns contain SMILES,
    these are the slots."""


@dataclass(frozen=True)
class Operation:
    """An operation on a campaign or a folder."""

    asked: type[Asked]
    """Model of the arguments."""
    help: str
    """Description for programs and language models."""
    changes: bool = False
    """True if the operation changes the campaign."""
    looks: bool = False
    """True if the operation is short and read-only, so that a person may run one next to a job of another kind."""
    of_folder: bool = False
    """True if the operation applies to the folder rather than to one campaign."""
    for_tools: bool = True
    """True if language models may use it. They may not undo changes."""


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
    "annotate": Operation(Annotate, "Veto or pin a graph, take that back, or keep a comment about it.", True),
    "undo": Operation(Nothing, "Take back the last change: results, a round or annotations.", True, for_tools=False),
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
"""All operations by name."""
