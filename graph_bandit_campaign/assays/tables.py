"""Read results of other assays: from a table, from the tables of a folder, or from the file of another campaign."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graph_bandit_campaign.assays.classes import classes_as_bounds
from graph_bandit_campaign.file import CampaignFile
from graph_bandit_campaign.names import find_column, split_name
from graph_bandit_campaign.results.rows import Columns, MeasuredRow, NoResultsError, ResultTables
from graph_bandit_env.tables import is_table

CAMPAIGN = ".campaign.json"  # ends the name of the file of a campaign


@dataclass(frozen=True)
class OtherTable:
    """The results of another assay, as they stand in a file."""

    name: str
    """Name of the assay: that of its column or goal, after that of the file if the name is taken."""
    path: Path
    """The file."""
    rows: Sequence[MeasuredRow]
    """Rows with a number or a bound."""
    remarks: Sequence[str] = ()
    """Remarks about the file, for people."""


def read_other_tables(
    texts: Sequence[str], identifier: str | None, smiles: str, goals: Collection[str] = ()
) -> list[OtherTable]:
    """Read what `--also` names.

    Rows that say `failed` or `pending` count as empty. Two classes are bounds on either side of 0.

    Args:
        texts: as on the command line, each a table, a campaign or a folder of tables, or `FILE:COLUMN`.
        identifier: column of the names; None: `id`.
        smiles: column of the SMILES.
        goals: names of what is measured in this campaign, by which columns of a folder are found.

    Raises:
        ValueError, OSError, ImportError: if a file cannot be read, has no such column or several, or a row cannot be
            understood.
    """
    read, taken = list[OtherTable](), {name.casefold() for name in goals}
    for text in texts:
        path, column = split_name(text)
        if path.is_dir():
            found = _read_folder(path, goals if column is None else [column], Columns("", identifier, smiles))
        elif path.name.lower().endswith(CAMPAIGN):
            found = _read_campaign(path, column, goals)
        else:
            tables = ResultTables.open([path])
            column = column or _only_column(tables, path, identifier, smiles)
            found = [_read_table(tables, Columns(column, identifier, smiles))]
        for table in found:
            stem = path.name[: -len(CAMPAIGN)] if path.name.lower().endswith(CAMPAIGN) else table.path.stem
            name = table.name if table.name.casefold() not in taken else f"{stem} {table.name}"
            if name.casefold() in taken:
                raise ValueError(f"Expected each column of a table once for `--also`. Got {text} again.")
            taken.add(name.casefold())
            read.append(replace(table, name=name))
    return read


def _read_table(tables: ResultTables, columns: Columns) -> OtherTable:
    table, classes = classes_as_bounds(tables.tables[0], columns.value)
    told = ResultTables([table]).read(columns)
    rows = [row for row in told.rows if isinstance(row.value, float)]
    return OtherTable(columns.value, table.path, rows, [*[classes] * bool(classes), *told.remarks])


def _read_folder(folder: Path, names: Collection[str], columns: Columns) -> list[OtherTable]:
    """Return the columns of some names in all tables of a folder."""
    paths = sorted(path for path in folder.iterdir() if path.is_file() and is_table(path))
    read, without = list[OtherTable](), list[str]()
    for path in paths:
        tables = ResultTables.open([path])
        having = [name for name in names if tables.having(name)]
        without += [path.name] * (not having)
        for name in having:
            try:
                read.append(_read_table(tables, replace(columns, value=name)))
            except NoResultsError:
                without.append(path.name)
    if not read:
        raise ValueError(
            f"Expected a folder with a table that has a column {' or '.join(names)}. {folder} has "
            f"{', '.join(without) or 'no tables'}. Name a table, as `--also FILE:COLUMN`."
        )
    remarks = [f"tables of {folder} without a result of {' or '.join(names)}: {', '.join(without)}"] * bool(without)
    return [replace(read[0], remarks=[*read[0].remarks, *remarks]), *read[1:]]


def _read_campaign(path: Path, name: str | None, goals: Collection[str]) -> list[OtherTable]:
    """Return what another campaign has measured: of each of its goals, or of one.

    Only molecules whose structure the file has are known in another pool: those that were suggested, or measured by the
    command `suggest`.
    """
    state = CampaignFile(path).read()
    if state is None:
        raise FileNotFoundError(f"There is no campaign {path}.")
    wanted = [quantity for quantity in state.quantities if name is None or quantity.casefold() == name.casefold()]
    if not wanted:
        raise ValueError(f"Expected a goal of {path} in `--also {path}:{name}`. It has {', '.join(state.quantities)}.")
    own = {goal.casefold() for goal in goals}
    read = list[OtherTable]()
    for quantity in wanted:
        results = [each for each in state.measured if each.goal == (quantity if state.goals else "")]
        signs = {"above": ">", "below": "<", "": ""}
        rows = [
            MeasuredRow(
                f"{path}, `{each.id}`",
                each.id,
                state.structures[each.id],
                each.value,
                f"{signs[each.bound]}{each.value!r}" * bool(each.bound),
            )
            for each in results
            if each.id in state.structures
        ]
        left = len(results) - len(rows)
        remarks = [f"{left} results of {path.name} left out, since it has no structure of them"] * bool(left)
        if quantity.casefold() not in own:
            remarks.append(f"no goal has the name `{quantity}`, which {path.name} has measured")
        read.append(OtherTable(quantity or "values", path, rows, remarks))
    return read


def _only_column(tables: ResultTables, path: Path, identifier: str | None, smiles: str) -> str:
    (header,) = tables.headers
    naming = {
        find_column(name or usual, header, str(path)) or find_column(usual, header, str(path))
        for name, usual in ((identifier, "id"), (smiles, "smiles"))
    }
    others = [name for name in header if name and name not in naming]
    if len(others) != 1:
        raise ValueError(
            f"Expected `--also FILE:COLUMN`, since {path} has other columns than one of values. It has "
            f"{', '.join(others) or 'none but names'}."
        )
    return others[0]
