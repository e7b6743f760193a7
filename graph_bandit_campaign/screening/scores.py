"""The table of the values that a program has computed, replaced atomically whenever some come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from graph_bandit_campaign.checks import check_value
from graph_bandit_campaign.report.tables import write_table
from graph_bandit_campaign.text import shield, unshield
from graph_bandit_env.storage import replace_file
from graph_bandit_env.tables import open_table

FAILED = "failed"


class Scores(dict[str, float | None]):
    """The values so far, by id; None where the program failed.

    Args:
        path: the table: id, smiles, and the value or `failed`. It is read if it is there.
        name: name of the column of the values.

    Raises:
        ValueError: if the file is another table.
    """

    smiles: dict[str, str]
    """SMILES of these molecules, by id."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__()
        self._path, self._name, self.smiles = path, name, {}
        if path.exists():
            self._read()

    def add(self, values: Mapping[str, float | None], smiles_of: Mapping[str, str], order: Iterable[str]) -> None:
        """Take in values, and replace the table.

        Args:
            values: values by id, None where the program failed.
            smiles_of: SMILES of these molecules.
            order: ids of all that was suggested, in whose order rows are written. Others come first.
        """
        every, rank_of = {**self, **values}, {identifier: number for number, identifier in enumerate(order)}
        self.clear()
        self.update((name, every[name]) for name in sorted(every, key=lambda name: rank_of.get(name, -1)))
        self.smiles |= {name: smiles_of[name] for name in values}
        table = [("id", "smiles", self._name)]
        table += [(shield(name), self.smiles[name], FAILED if y is None else repr(y)) for name, y in self.items()]
        replace_file(self._path, write_table(self._path, table))

    def _read(self) -> None:
        advice = "Give earlier results with --measured, and another --out; or move the file away."
        with open_table(self._path) as table:
            if table.columns != ("id", "smiles", self._name):
                raise ValueError(
                    f"Expected {self._path} with the columns id, smiles, {self._name}, as this command writes it. Got "
                    f"{', '.join(table.columns)}. {advice}"
                )
            for number, (written, smiles, cell) in table.rows(table.columns):
                identifier = unshield(written)
                try:
                    if not (identifier and smiles) or identifier in self:
                        raise ValueError("Expected a SMILES, and an id that no other row has.")
                    value = None if cell.lower() == FAILED else check_value(identifier, float(cell))
                except ValueError as error:
                    raise ValueError(f"{table.where(number)}: {error} {advice}") from error
                self[identifier], self.smiles[identifier] = value, smiles
        if table.problems:
            number, problem = table.problems[0]
            raise ValueError(f"{table.where(number)}: {problem}")
