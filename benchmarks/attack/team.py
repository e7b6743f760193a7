"""A project team that keeps dirty tables, and an account of what it told, made without a look at the campaign's."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from openpyxl import Workbook
from rdkit import Chem, rdBase

KNOWN = 20  # molecules with results before the first round
ACIDS = (".Cl", ".Br", ".OC(=O)C(F)(F)F")
GOALS = ("sol", "hlm", "er")
Misspelling: TypeAlias = tuple[list[tuple[str, ...]], tuple[str, ...], str]


class Result(NamedTuple):
    """A value that the team told."""

    molecule: str
    """The molecule, by its first id."""
    goal: str
    """What was measured."""
    value: float
    """The number in the cell."""
    bound: str
    """As in campaign files: "above", "below", or empty."""


class Team:
    """Measures what is suggested, and writes it down as people do.

    Its pool loses molecules, gets some of them back, and renames others. Solubility is in a text with semicolons,
    decimal commas and a byte order mark, by id; the rest is in a workbook, by SMILES of salts and in other spellings.
    Results come late, are bounds, repeat others, or say that the assay failed.

    Args:
        data: CSV table of molecules.
        columns: its columns of SMILES, solubility, clearance and efflux ratio.
        rows: how many molecules with all three values to take; all, if there are fewer.
        generator: draws the molecules and all dirt.
    """

    def __init__(
        self, data: Path, columns: tuple[str, str, str, str], rows: int, generator: np.random.Generator
    ) -> None:
        with data.open(newline="", encoding="utf-8-sig") as file:
            complete = [row for row in csv.DictReader(file) if all(row[name] for name in columns)]
        molecules = [Chem.MolFromSmiles(row[columns[0]]) for row in complete]
        values = [[float(row[name]) for name in columns[1:]] for row in complete]
        once = dict(zip(map(Chem.MolToSmiles, molecules), values, strict=True))
        if len(once) < 3 * KNOWN:
            raise ValueError(f"Expected {3 * KNOWN} molecules with all of {', '.join(columns)}. Got {len(once)}.")
        chosen = generator.permutation(len(once))[:rows]
        every = list(once)
        self.generator = generator
        self.smiles = {f"Mol{k}": every[k] for k in chosen}
        self.values = {key: dict(zip(GOALS, once[text], strict=True)) for key, text in self.smiles.items()}
        self.names = {key: key for key in self.smiles}
        self.offered = set(self.smiles)
        self.solubility: list[tuple[str, ...]] = []
        self.clearance: list[tuple[str, ...]] = []
        self.results: list[Result] = []
        self.failed: list[tuple[str, str]] = []
        self.suggested: list[str] = []
        self.late: list[tuple[str, str]] = []
        for key in list(self.smiles)[:KNOWN]:
            self._write_cells(key, {goal: f"{value:.3f}" for goal, value in self.values[key].items()})

    def measure(self) -> None:
        """Measure what is pending, and what was late."""
        late, self.late = self.late, []
        latest = [(key, goal) for key in self._waiting() for goal in GOALS]
        cells: dict[str, dict[str, str]] = {}
        for key, goal in dict.fromkeys([*late, *latest]):
            if any(result[:2] == (key, goal) for result in self.results) or (key, goal) in self.failed:
                continue
            value, draw = self.values[key][goal], self.generator.random()
            if draw < 0.2:
                self.late.append((key, goal))
                continue
            cell = f"{value:.3f}"
            if draw < 0.25:
                cell = "failed"
            elif draw < 0.4:
                cell = f">{value - 0.1:.2f}" if draw < 0.32 else f"<{value + 0.1:.2f}"
            cells.setdefault(key, {})[goal] = cell
        for key, row in cells.items():
            self._write_cells(key, row)
        for result in [self.results[k] for k in self.generator.integers(len(self.results), size=2)]:
            if not result.bound:  # once more, the same or another value
                shift = self.generator.choice([0.0, 0.125])
                self._write_cells(result.molecule, {result.goal: f"{result.value + shift:.3f}"})
        self.clearance.append(self.clearance[0])  # a row that was pasted twice

    def trade(self) -> None:
        """Sell out a twentieth of the pool, get a few molecules back, and give one a new id."""
        gone = sorted(set(self.smiles) - self.offered)
        self.offered -= set(self.generator.choice(sorted(self.offered), max(1, len(self.offered) // 20), replace=False))
        for pending in self._waiting()[:1]:
            self.offered.discard(pending)
        self.offered |= set(gone[: len(gone) // 2])
        renamed = str(
            self.generator.choice([key for key in self.suggested if key in self.offered] or list(self.offered))
        )
        self.names[renamed] = f"{renamed}-{len(self.suggested)}"

    def write(self, folder: Path) -> None:
        """Write the pool and the two tables of results."""
        pool = [(self.names[key], text, key[-1]) for key, text in self.smiles.items() if key in self.offered]
        with (folder / "pool.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("id", "smiles", "shelf"), *pool])
        lines = ["id;sol;remark", *(f"{name};{cell};klar, gelöst" for name, cell in self.solubility)]
        (folder / "solubility.csv").write_bytes("\r\n".join([*lines, ""]).encode("utf-8-sig"))
        book = Workbook()
        sheet = book.worksheets[0]
        sheet.append(("plate", "smiles", "hlm", "er"))
        for row in self.clearance:
            sheet.append(("P1", *(_number(cell) for cell in row)))
        book.save(folder / "clearance.xlsx")

    def take(self, folder: Path) -> str:
        """Note what was suggested; return the fault if it was measured, failed, pending or sold out already."""
        keys = {name: key for key, name in self.names.items()}
        with (folder / "out.csv").open(newline="", encoding="utf-8") as file:
            batch = [keys[row["id"]] for row in csv.DictReader(file)]
        taken = {*self.suggested, *self._settled(), *(key for key, _ in self.failed)} | (set(batch) - self.offered)
        again = sorted(taken & set(batch))
        self.suggested += batch
        return f"suggested {', '.join(again)}" if again or len(set(batch)) < len(batch) else ""

    def compare(self, campaign: Path) -> str:
        """Return what a campaign file has lost, doubled or changed; empty if it holds what was told."""
        state = json.loads(campaign.read_text(encoding="utf-8"))
        exact = {result[:2] for result in self.results if not result.bound}
        counted = {result for result in self.results if not result.bound or result[:2] not in exact}
        ours = Counter((self.names[result.molecule], *result[1:]) for result in counted)
        theirs = Counter((row["id"], row["goal"], row["value"], row.get("bound", "")) for row in state["measured"])
        if theirs != ours:
            return f"lost {sorted(ours - theirs)[:3]}, doubled or invented {sorted(theirs - ours)[:3]}"
        failed = {key for key, goal in self.failed if not any(result[:2] == (key, goal) for result in self.results)}
        for kind, wanted in (("failed", failed), ("pending", self._waiting())):
            names = [self.names[key] for key in wanted]
            if sorted(state[kind]) != sorted(names):
                return f"{kind}: {sorted(state[kind])}, not {sorted(names)}"
        return ""

    def misspell(self) -> Misspelling:
        """Return a table, a row with a typing error to put at its end, and the place that must be told."""
        solubility, clearance = f"solubility.csv, line {len(self.solubility) + 2}: ", f"row {len(self.clearance) + 2}: "
        name, smiles = self.suggested[0], self.smiles[self.suggested[0]]
        errors: list[Misspelling] = [
            (self.solubility, (f"{name}O", "1,5"), f"{solubility}the pool has no `{name}O`"),
            (self.solubility, (name, "1O,5"), f"{solubility}expected a number"),
            (self.solubility, (name, "1.234,5"), f"{solubility}expected a number"),
            (self.clearance, (smiles, "1.5 uM", ""), f"{clearance}expected a number"),
            (self.clearance, (f"{smiles}(", "1.5", ""), clearance),
        ]
        return errors[self.generator.integers(len(errors))]

    def _write_cells(self, key: str, cells: dict[str, str]) -> None:
        for goal, cell in cells.items():
            if cell == "failed":
                self.failed.append((key, goal))
            else:
                bound = {">": "above", "<": "below"}.get(cell[0], "")
                self.results.append(Result(key, goal, float(cell.lstrip("<>")), bound))
        if "sol" in cells:
            self.solubility.append((self.names[key], cells["sol"].replace(".", ",")))
        if set(cells) - {"sol"}:
            self.clearance.append((self._form(self.smiles[key]), cells.get("hlm", ""), cells.get("er", "")))

    def _form(self, smiles: str) -> str:
        """Return a SMILES, mostly in another spelling or as a salt."""
        molecule = Chem.MolFromSmiles(smiles)
        root = int(self.generator.integers(molecule.GetNumAtoms()))
        with rdBase.BlockLogs():
            spelled = str(Chem.MolToSmiles(molecule, canonical=False, rootedAtAtom=root))
        return spelled + (str(self.generator.choice(ACIDS)) if self.generator.random() < 0.3 else "")

    def _settled(self) -> set[str]:
        measured = [{result.molecule for result in self.results if result.goal == goal} for goal in GOALS]
        return set.intersection(*measured)

    def _waiting(self) -> list[str]:
        """Return what was suggested and has neither all its results nor a failed one."""
        done = self._settled() | {key for key, _ in self.failed}
        return [key for key in self.suggested if key not in done]


def _number(cell: str) -> str | float | None:
    """Return the content of a cell of a workbook, where numbers are numbers."""
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell
