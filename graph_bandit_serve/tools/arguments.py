"""Define the arguments of the tools, with the words that a language model reads about each."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictFloat

LONGEST = 2_000
"""Most characters of a text."""

Text = Annotated[str, Field(max_length=LONGEST)]
Campaign = Annotated[Text, Field(description="`id` of the campaign, as `list_campaigns` gives it.")]
Graph = Annotated[Text, Field(description="Id of the molecule or other graph, as in the pool.")]
Table = Annotated[Text, Field(description="A table of the folder, as `list_tables` names it.")]
By = Annotated[Text, Field(description="Who says so: the person you work for, or your own name.")]
Version = Annotated[
    Text,
    Field(
        description="`version` of the campaign when you last read it. If somebody has changed it since, nothing is "
        "done, and you are told. Empty: whatever it is now."
    ),
]
SmilesColumn = Annotated[Text, Field(description="Column of the SMILES.")]
IdColumn = Annotated[Text | None, Field(description="Column of the ids; null: `id`, if there is one.")]
Sheet = Annotated[Text | None, Field(description="Sheet, if it is a workbook; null: the first.")]


class Given(BaseModel):
    """A part of what is given."""

    model_config = ConfigDict(use_attribute_docstrings=True, extra="forbid", frozen=True)


class GivenResult(Given):
    """A result that was really measured. Never make one up, and never give a prediction as a result."""

    id: Text
    """Id of what was measured."""
    value: StrictFloat | Text
    """A number; or, as text, a bound such as ">4.5" or "<0.1"; or "failed" if it could not be measured."""
    goal: Text = ""
    """Name of the measured quantity; empty if the campaign has one goal."""
    noise: StrictFloat | Text = ""
    """Standard deviation of the value; empty: it is not known."""


class Wishes(Given):
    """What is wanted, and within which limits. What is left out, or null, stays as it is."""

    n: int | None = Field(default=None, ge=1)
    """How many to suggest in a round."""
    maximize: list[Text] | None = None
    """Columns of the results of which large values are wanted."""
    minimize: list[Text] | None = None
    """Columns of which small values are wanted."""
    target: list[Text] | None = None
    """Columns with a wanted range, such as "logd=1..3"."""
    weights: list[Text] | None = None
    """Weights of several goals, such as "activity=2", to choose by their weighted sum; empty: to find the front."""
    require: list[Text] | None = None
    """Limits on columns of the pool, on properties (mw, logp, tpsa, hbd, hba, rotatable_bonds, rings, qed, charge and
    others) or on predicted results: "mw<500", "logp=1..4"."""
    forbid: list[Text] | None = None
    """Substructures that are not suggested: SMARTS, or catalogs such as "pains" and "brenk"."""
    only: list[Text] | None = None
    """Values of columns of text of the pool: "stock=yes", "vendor=A,B"."""
    price: Text | None = None
    """Column of the pool with prices, or one price for all, such as "12.5"."""
    budget: float | None = Field(default=None, gt=0)
    """What a round may cost in all; it needs `price`."""
    budget_only: bool | None = None
    """Whether prices count for the budget alone, and not for the choice."""
    at_most: int | None = Field(default=None, ge=1)
    """How many of a round may be of one group; it needs `per`."""
    per: Text | None = None
    """That group: a column of text of the pool, or "scaffold"."""
    ignore_failures: bool | None = None
    """Whether to suggest also what is likely to fail."""

    def fields(self) -> dict[str, object]:
        """Return the settings of `suggest` that are given, under its names."""
        given = self.model_dump(exclude_none=True)
        return {"near" if name == "target" else name: value for name, value in given.items()}
