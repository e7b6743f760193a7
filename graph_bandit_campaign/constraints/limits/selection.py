"""The molecules that limits leave, and which limit excludes each of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Step:
    """A limit, and what it leaves of the molecules that those before it left."""

    text: str
    """The limit as written."""
    left: int
    """How many molecules it leaves."""
    unknown: int = 0
    """How many others do not meet it because their value is not known."""
    source: str = ""
    """Where the values come from: "a column" or "computed"; empty where it can be only one of them."""

    def describe(self) -> str:
        """Say how many molecules the limit leaves."""
        remarks = ", ".join(
            [self.source] * bool(self.source) + [f"not known for {self.unknown:,}"] * bool(self.unknown)
        )
        return f"{self.text}{f' ({remarks})' if remarks else ''} leaves {self.left:,}"


@dataclass(frozen=True, eq=False)
class Selection:
    """The molecules that limits leave."""

    steps: Sequence[Step]
    """The limits in the order in which they were tested, the cheap ones first."""
    failed: NDArray[np.int64]
    """`(K,)`. Index in `steps` of the first limit that a molecule does not meet; -1 if it meets all."""
    unknown: NDArray[np.bool_]
    """`(K,)`. Whether a molecule does not meet that limit because its value is not known."""
    rows: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """`(R,)`. Which rows of the columns meet all limits on columns; a molecule may have several."""

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Return which molecules meet all limits, `(K,)`."""
        return self.failed < 0

    def reason(self, index: int) -> str:
        """Return the limit that excludes a molecule; an empty text if it meets all."""
        step = int(self.failed[index])
        return "" if step < 0 else self.steps[step].text + " (not known)" * bool(self.unknown[index])

    def describe(self) -> str:
        """Say how many molecules each limit leaves, one after the other; an empty text without limits."""
        steps = ", then ".join(step.describe() for step in self.steps)
        return f"Limits on {len(self.failed):,} molecules: {steps}." if steps else ""

    def with_known(self, name: str, known: NDArray[np.bool_]) -> Selection:
        """Return the selection without the molecules that have no known value in a column; itself if there are none.

        Args:
            name: name of the column.
            known: `(K,)`. Whether the value of a molecule is known.
        """
        lost = self.mask & ~known
        if not lost.any():
            return self
        step = Step(name, int((self.mask & known).sum()), int(lost.sum()), "a column")
        failed = np.where(lost, len(self.steps), self.failed)
        return replace(self, steps=(*self.steps, step), failed=failed, unknown=self.unknown | lost)
