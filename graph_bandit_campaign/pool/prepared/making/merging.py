"""Merge equal entries of different parts, list bad rows, and describe the finished pool."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agents.descriptors import FINGERPRINTS, Moments
from graph_bandit_campaign.pool.prepared.making.work import LONGEST
from graph_bandit_campaign.pool.prepared.manifest import DROPPED, Manifest, Question
from graph_bandit_campaign.pool.prepared.part import KNOWN
from graph_bandit_campaign.pool.prepared.pool import BAD_ROWS, PreparedPool
from graph_bandit_campaign.text import shield
from graph_bandit_env.tables import same_cell

if TYPE_CHECKING:
    import duckdb

ROW = (1 << 32) - 1  # of a place: part number, then row in the part
SCRATCH = "merging"  # folder for data that does not fit into memory
MEMORY = "200MB"  # limit for the database, which writes further data to the folder
PARTS = """
CREATE VIEW parts AS
    SELECT (file_index::BIGINT << 32) + file_row_number AS place, {columns}
    FROM read_parquet(getvariable('paths'), file_row_number = true) t({columns})
"""
EVERY = """
CREATE OR REPLACE TABLE every AS
    SELECT place, id, smiles AS entry, coalesce(id, smiles) AS name FROM parts WHERE problem IS NULL
"""
# If different entries have the same name, all their rows are bad. Otherwise the first row of an entry counts, and
# further ones are duplicates: the rules of `from_smiles_csv`.
DROPS = """
CREATE OR REPLACE TABLE bad AS
    WITH firsts AS (
        SELECT name, entry, min(place) AS first, row_number() OVER (PARTITION BY name ORDER BY min(place)) AS rank
        FROM every GROUP BY name, entry
    )
    SELECT place, name, CASE WHEN every.entry = one.entry THEN two.first ELSE one.first END AS other FROM every
    JOIN firsts one USING (name) JOIN firsts two USING (name) WHERE one.rank = 1 AND two.rank = 2;
CREATE OR REPLACE TABLE repeated AS
    SELECT place, kept.place AS kept, CASE WHEN id != kept.name THEN id END AS alias
    FROM (
        SELECT *, first_value({'place': place, 'name': name}) OVER (PARTITION BY entry ORDER BY place) AS kept
        FROM every ANTI JOIN bad USING (place)
    )
    WHERE place != kept.place;
CREATE OR REPLACE TABLE copies AS
    SELECT * FROM (FROM repeated UNION ALL SELECT DISTINCT kept, kept, NULL FROM repeated) JOIN parts USING (place);
"""
DIFFERING = """
SELECT 1 FROM (SELECT kept, same_cell({cell}) AS cell FROM copies) WHERE cell != ''
GROUP BY kept HAVING count(DISTINCT cell) > 1 LIMIT 1
"""
DROPPED_ROWS = f"""
SELECT
    place >> 32 AS part, place & {ROW} AS row,
    coalesce(kept >> 32, -1) AS kept_part, coalesce(kept & {ROW}, -1) AS kept,
    alias, line, written, gone.problem, {{columns}}
FROM (
    SELECT place, kept, alias, NULL AS problem FROM repeated
    UNION ALL SELECT place, NULL, NULL, problem FROM parts WHERE problem IS NOT NULL
    UNION ALL
    SELECT bad.place, NULL, NULL, concat('`', name[:{LONGEST}], '` is another molecule in {{unit}} ', line, '.')
    FROM bad JOIN parts ON parts.place = bad.other
) gone
JOIN parts USING (place) ORDER BY place
"""
BAD = f"""
SELECT line AS {{unit}}, shield(written[:{LONGEST}]) AS text, problem[:{LONGEST}] AS problem
FROM '{{path}}' WHERE problem IS NOT NULL ORDER BY ALL
"""
SHARED = "SELECT name FROM every GROUP BY name HAVING count(DISTINCT entry) > 1"


def merge(folder: Path, question: Question) -> Manifest:
    """Write the rows of the parts to leave out, with reasons: `dropped.parquet` and `bad_rows.csv`.

    Args:
        folder: folder with finished parts.
        question: inputs of the pool.

    Returns:
        The manifest, not written yet.

    Raises:
        ValueError, OSError: if a part is damaged, or a file cannot be written.
    """
    import duckdb

    paths, scratch, dropped = sorted(folder.glob("part-*.parquet")), folder / SCRATCH, folder / DROPPED
    cells = {name: f"c{k}" for k, name in enumerate(question.columns)}
    with duckdb.connect(config={"memory_limit": MEMORY, "threads": 1, "temp_directory": str(scratch)}) as base:
        for function in (same_cell, shield):
            base.create_function(function.__name__, function, ["VARCHAR"], "VARCHAR")
        base.execute("SET VARIABLE paths = ?", [[*map(str, paths)]])
        base.execute(PARTS.format(columns=", ".join(("line", *KNOWN[1:], *cells.values()))))
        shared = _find_drops(base, question.is_guessed)
        differing = [name for name, cell in cells.items() if base.execute(DIFFERING.format(cell=cell)).fetchall()]
        rows = DROPPED_ROWS.format(columns=", ".join(cells.values()), unit=question.unit)
        base.sql(rows).write_parquet(str(dropped), compression="zstd")
        bad = base.sql(BAD.format(unit=question.unit, path=str(dropped).replace("'", "''")))
        bad.write_csv(str(folder / BAD_ROWS))
        number_bad, merged = len(bad), len(_column(base, "SELECT place FROM repeated"))
    shutil.rmtree(scratch, ignore_errors=True)
    for path in (dropped, folder / BAD_ROWS):
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    manifest = Manifest(
        question=question,
        parts=len(paths),
        merged=merged,
        bad=number_bad,
        differing=tuple(differing),
        shared=tuple(sorted(shared)),
    )
    pool = PreparedPool(folder, manifest)
    content, moments, molecules = hashlib.sha256(), dict[str, Moments](), 0
    for block in pool.blocks([name for name in question.descriptors if name not in FINGERPRINTS]):
        molecules += len(block)
        pairs = zip(block.ids, block.smiles, strict=True)
        content.update("".join(f"{json.dumps(pair)}\n" for pair in pairs).encode())
        for name, numbers in block.descriptors.numbers.items():
            more = Moments.of(numbers)
            moments[name] = moments[name].merge(more) if name in moments else more
    lists = {name: added.to_dict() for name, added in moments.items()}
    return replace(manifest, molecules=molecules, moments=lists, entries=content.hexdigest()[:32])


def _find_drops(base: duckdb.DuckDBPyConnection, is_guessed: bool) -> set[str]:
    """Make the tables of rows to leave out, and return ambiguous names, which do not count."""
    base.execute(EVERY)
    shared = set[str]()
    while more := _column(base, SHARED) if is_guessed else []:
        base.execute(f"UPDATE every SET name = entry, id = NULL WHERE name IN ({SHARED})")
        shared.update(more)
    base.execute(DROPS)
    return shared


def _column(base: duckdb.DuckDBPyConnection, query: str) -> list[str]:
    return [text for (text,) in base.execute(query).fetchall()]
