"""Read results of other assays: from a table, from the tables of a folder, or from the file of another campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graph_bandit_campaign.file import CampaignFile
from graph_bandit_campaign.names import are_one, split_name
from graph_bandit_campaign.results.classes import classes_as_bounds
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
    is_named: bool = True
    """Whether the user named the assay; if not, it is left out where its results do not differ."""


def read_other_tables(
    texts: Sequence[str],
    identifier: str | None,
    smiles: str,
    goals: Collection[str] = (),
    own: Collection[Path] = (),
) -> list[OtherTable]:
    """Read what `--also` names; the order in which it is named is nothing.

    Rows that say `failed` or `pending` count as empty. Two classes are bounds on either side of 0.

    Args:
        texts: as on the command line, each a table, a campaign or a folder of tables, or `FILE:COLUMN`.
        identifier: column of the names; None: `id`.
        smiles: column of the SMILES.
        goals: names of what is measured in this campaign, by which columns of a folder are found.
        own: files of this campaign, whose results it has already.

    Raises:
        ValueError, OSError, ImportError: if a file cannot be read, has no such column or several, its results are those
            of this campaign, or a row cannot be understood.
    """
    read = list[OtherTable]()
    for text in texts:
        path, column = split_name(text)
        if path.is_dir():
            names = goals if column is None else [column]
            read += _read_folder(path, names, Columns("", identifier, smiles), own)
        elif path.name.lower().endswith(CAMPAIGN):
            read += _read_campaign(path, column, goals)
        else:
            tables = ResultTables.open([path])
            column = column or _only_column(tables, Columns("", identifier, smiles))
            table = _read_table(tables, Columns(column, identifier, smiles))
            if table.name.casefold() in map(str.casefold, goals) and any(are_one(path, other) for other in own):
                raise ValueError(
                    f"Expected results of another assay for `--also`. {text} is what this one measures. Leave it out."
                )
            read.append(table)
    return _with_names(read, goals)


def _with_names(tables: Sequence[OtherTable], goals: Collection[str]) -> list[OtherTable]:
    """Return tables sorted by names that are all different: those of their columns, files, or folders.

    Raises:
        ValueError: if there is a column of a table twice.
    """
    taken = {name.casefold() for name in goals}
    for by_folder in (False, True):
        count = Counter(table.name.casefold() for table in tables)
        names = [_longer(table, by_folder) for table in tables]
        are_free = [count[table.name.casefold()] == 1 and table.name.casefold() not in taken for table in tables]
        tables = [
            table if is_free else replace(table, name=name)
            for table, name, is_free in zip(tables, names, are_free, strict=True)
        ]
    twice = next((name for name, number in Counter(table.name for table in tables).items() if number > 1), None)
    if twice is not None:
        raise ValueError(
            f"Expected each column of a table once for `--also`, and tables of different names. Got {twice} again."
        )
    return sorted(tables, key=lambda table: table.name)


def _longer(table: OtherTable, by_folder: bool) -> str:
    """Return the name of a table after that of its folder, or of its file."""
    if by_folder:
        return f"{table.path.resolve().parent.name}/{table.name}"
    is_campaign = table.path.name.lower().endswith(CAMPAIGN)
    return f"{table.path.name[: -len(CAMPAIGN)] if is_campaign else table.path.stem} {table.name}"


def _read_table(tables: ResultTables, columns: Columns) -> OtherTable:
    table, classes = classes_as_bounds(tables.tables[0], columns.value)
    try:
        told = ResultTables([table]).read(columns)
    except NoResultsError:
        raise NoResultsError(f"Expected a value in column `{columns.value}` of {table.path}. Got none.") from None
    rows = [row for row in told.rows if isinstance(row.value, float)]
    return OtherTable(columns.value, table.path, rows, [*[classes] * bool(classes), *told.remarks])


def _read_folder(folder: Path, names: Collection[str], columns: Columns, own: Collection[Path]) -> list[OtherTable]:
    """Return the columns of some names in all tables of a folder but those of this campaign."""
    every = sorted(path for path in folder.iterdir() if path.is_file() and is_table(path))
    paths = [path for path in every if not any(are_one(path, other) for other in own)]
    read, without = list[OtherTable](), list[str]()
    for path in paths:
        tables = ResultTables.open([path])
        having = [name for name in names if tables.having(name)]
        without += [path.name] * (not having)
        for name in having:
            try:
                read.append(replace(_read_table(tables, replace(columns, value=name)), is_named=False))
            except NoResultsError:
                without.append(path.name)
    if not read:
        raise ValueError(
            f"Expected a folder with a table that has a column {' or '.join(names)}. {folder} has "
            f"{', '.join(without) or 'no tables'}. Name a table, as `--also FILE:COLUMN`."
        )
    remarks = [f"tables of {folder} without a result of {' or '.join(names)}: {', '.join(without)}"] * bool(without)
    remarks += [f"tables of {folder} left out, which are of this campaign: {len(every) - len(paths)}"] * (
        every != paths
    )
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
        read.append(OtherTable(quantity or "values", path, rows, remarks, is_named=name is not None))
    return read


def _only_column(tables: ResultTables, columns: Columns) -> str:
    (table,) = tables.tables
    naming = columns.naming_of(table)
    others = [name for name in table.columns if name and name not in (naming.smiles, naming.identifier)]
    if len(others) != 1:
        raise ValueError(
            f"Expected `--also FILE:COLUMN`, since {table.path} has other columns than one of values. It has "
            f"{', '.join(others) or 'none but names'}."
        )
    return others[0]
