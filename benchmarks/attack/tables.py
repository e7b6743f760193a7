"""Read hostile tables: damaged, packed a thousandfold, in other encodings, with cells that are code elsewhere."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.attack.attempts import Attempt, run_command
from benchmarks.attack.hostile.bombs import BOMBS
from benchmarks.attack.hostile.limited import Limited, Outcome
from benchmarks.attack.hostile.writers import HEADER, NOTES, SMILES, Rows, make_rows, to_text, write
from graph_bandit_env import canonical_smiles, from_smiles_csv
from graph_bandit_env.tables import open_table

SCRIPT = "<script>alert(1)</script>"
FORMULAS = ("=1+1", "+1-1", "@SUM(A1)", "-2+3", "=cmd|' /C calc'!A1")
DANGEROUS = (
    *FORMULAS,
    *(SCRIPT, "&lt;b&gt;", "{{7*7}}", "\x1b[31mred", "a\x07b", "\u202etxt.exe", "a\u200bb"),
    *("%s%n", "../../etc/passwd", "'; DROP TABLE t; --"),
)
TEXTS = (".csv", ".tsv", ".txt", ".smi", ".sdf")
SEALED = (".csv.gz", ".sdf.gz", ".xlsx")  # with checksums
MOST_ROWS = 10**6  # as the command sets a limit by the memory there is
KINDS = (*TEXTS, *SEALED, ".parquet")
MARKED = ("utf-8-sig", "utf-16", "utf-16-be with a mark")
OTHERS = ("latin-1", "cp1252", "mac-roman", "utf-16-le", "utf-16-be", "utf-32")


def read(path: Path) -> tuple[tuple[str, ...], list[list[str]], int]:
    """Return the columns, the rows and the number of problems of a table."""
    with open_table(path) as table:
        rows = [cells for _, cells in table.rows(table.columns[:10], MOST_ROWS)]
        return table.columns, rows, len(table.problems)


def read_pool(path: Path) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Return the ids, the SMILES and the problems of a pool."""
    pool = from_smiles_csv(path, identifier="id", on_error="skip", cache=False)
    return pool.ids, pool.smiles, [text for _, text in pool.skipped]


def compare(outcome: Outcome, rows: Rows, kind: str, *, may_refuse: bool) -> str:
    """Return the fault of a reader that had to return these rows; empty if it did, or refused them where it may."""
    if outcome.fault or outcome.refused:
        return outcome.fault or ("" if may_refuse else f"refused: {outcome.refused[:150]}")
    if kind.startswith(".smi"):
        expected = [[row[1], row[0]] for row in rows]
    elif kind.startswith(".sdf"):
        expected = [[canonical_smiles(row[1]), row[0], *row[2:]] for row in rows]
    else:
        expected = [list(row) for row in rows]
    if outcome.value[1] != [[cell.strip() for cell in row] for row in expected]:
        return f"{kind}: read other rows than were written"
    return ""


# Each attack takes the random numbers, a folder and a limited process.


def attack_with_bytes(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Read random bytes as a table of any kind."""
    path = folder / f"table{generator.choice(KINDS)}"
    content = generator.bytes(int(generator.integers(0, 2000)))
    if generator.random() < 0.5:
        content = bytes(generator.choice(list(b'abC1,;\t\n\r"<>$ \x00\xff'), len(content)))
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" and generator.random() < 0.7 else content)
    return Attempt("random bytes", limited.call(read, path).fault)


def attack_with_truncation(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Cut a table off."""
    kind = str(generator.choice(KINDS))
    path, rows = folder / f"table{kind}", make_rows(generator, NOTES[:5])
    write(path, rows)
    content = path.read_bytes()
    path.write_bytes(content[: generator.integers(len(content))])
    outcome = limited.call(read, path)
    if kind in TEXTS:  # nothing says where such a file should end
        return Attempt("text cut off", outcome.fault)
    missing = "" if outcome.refused else f"{kind}: read as if it were complete"
    return Attempt("packed file cut off", outcome.fault or missing)


def attack_with_a_flipped_bit(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Flip one bit of a table."""
    kind = str(generator.choice((".csv", ".sdf", *SEALED, ".parquet", ".parquet")))
    path, rows = folder / f"table{kind}", make_rows(generator, NOTES[:5])
    write(path, rows)
    content = bytearray(path.read_bytes())
    content[generator.integers(len(content))] ^= 1 << int(generator.integers(8))
    path.write_bytes(content)
    outcome = limited.call(read, path)
    if kind in TEXTS:
        return Attempt("bit of a text flipped", outcome.fault)
    if kind == ".parquet":  # pages have checksums, the names and types of columns have none
        same = outcome.value is not None and outcome.value[0] == HEADER
        fault = compare(outcome, rows, kind, may_refuse=True) if same else outcome.fault
        return Attempt("bit of a Parquet file with checksums flipped", fault)
    return Attempt(f"bit of a {kind} file flipped", compare(outcome, rows, kind, may_refuse=True))


def attack_with_surplus_cells(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Write a decimal comma into a table with commas."""
    kind, rows = str(generator.choice((".csv", ".tsv", ".xlsx", ".csv.gz"))), make_rows(generator, ("plain",))
    path, bad = folder / f"table{kind}", int(generator.integers(len(rows)))
    rows[bad] = [*rows[bad][:2], "1", "5", "plain"]  # 1,5 without quotation marks
    write(path, rows)
    fault = compare(outcome := limited.call(read, path), [*rows[:bad], *rows[bad + 1 :]], kind, may_refuse=True)
    if not fault and outcome.value and not outcome.value[2]:
        fault = f"{kind}: left out without a word"
    return Attempt("row with more cells than the header", fault)


def attack_with_equal_columns(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Give two columns one name."""
    kind = str(generator.choice((".csv", ".tsv", ".txt", ".csv.gz", ".xlsx", ".parquet", ".sdf")))
    path, rows = folder / f"table{kind}", [[*row[:3], "9"] for row in make_rows(generator)]
    write(path, rows, ("id", "smiles", "y", "y"))
    outcome = limited.call(read, path)
    told = outcome.refused or (kind == ".sdf" and outcome.value and outcome.value[2] == len(rows))
    return Attempt("two columns of one name", outcome.fault or ("" if told else f"{kind}: took one of them"))


def attack_with_an_encoding(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Write text in an encoding that is not UTF-8."""
    marked = generator.random() < 0.5
    encoding = str(generator.choice(MARKED if marked else OTHERS))
    kind = str(generator.choice((".csv", ".tsv", ".txt")))
    path, rows = folder / f"table{kind}", make_rows(generator, ("für é", "ñ") if not marked else NOTES)
    text = to_text(kind, rows, delimiter=str(generator.choice((",", ";", "\t"))))
    path.write_bytes(
        "\ufeff".join(["", text]).encode("utf-16-be") if "-be" in encoding and marked else text.encode(encoding)
    )
    outcome = limited.call(read, path)
    if marked:
        return Attempt("encoding with a mark", compare(outcome, rows, kind, may_refuse=False))
    clear = "save" in outcome.refused.lower()
    return Attempt("unknown encoding", outcome.fault or ("" if clear else f"{encoding}: {outcome.refused or 'read'}"))


def attack_with_a_giant_cell(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Write a cell of up to ten million characters."""
    kind = str(generator.choice((".csv", ".tsv", ".sdf", ".csv.gz", ".parquet")))
    path, rows = folder / f"table{kind}", make_rows(generator, ("plain",))
    rows[generator.integers(len(rows))][3] = "x" * int(10 ** generator.uniform(5, 7))
    write(path, rows)
    return Attempt("giant cell", compare(limited.call(read, path), rows, kind, may_refuse=True))


def attack_with_a_giant_molecule(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Add a molecule of hundreds to 100,000 units to a pool."""
    unit = str(generator.choice(["C", "C(C)", "c1ccc(cc1)", "N[C@@H](C)C(=O)", "C1CC1", "[13CH4].", "C("]))
    path, size = folder / "table.csv", int(10 ** generator.uniform(2.6, 5))
    path.write_text(f"id,smiles\na,CCO\nb,{unit * size}C\n", encoding="utf-8")
    outcome = limited.call(read_pool, path)
    told = outcome.refused or (outcome.value and outcome.value[:2] == (("a",), ("CCO",)) and len(outcome.value[2]) == 1)
    if told and outcome.value and len(outcome.value[2][0]) > 500:
        return Attempt("giant molecule", "told in endless words")
    return Attempt("giant molecule", outcome.fault or ("" if told else f"took {unit} {size} times"))


def attack_with_a_bomb(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Read a small file that holds gigabytes."""
    name = str(generator.choice(list(BOMBS)))
    path = folder / name.split(":")[0]
    path.write_bytes(BOMBS[name](generator))
    outcome = limited.call(read, path)
    return Attempt("bomb", f"{name}: {outcome.fault}" if outcome.fault else "")


def attack_with_dangerous_cells(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Write cells that a spreadsheet or a browser would run."""
    kind = str(generator.choice((".csv", ".tsv", ".csv.gz", ".xlsx", ".parquet", ".sdf")))
    notes = [text for text in DANGEROUS if kind != ".xlsx" or text.isprintable()]  # openpyxl writes no others
    path, rows = folder / f"table{kind}", make_rows(generator, notes)
    write(path, rows)
    return Attempt("cell with code", compare(limited.call(read, path), rows, kind, may_refuse=False))


def attack_with_any_text(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Write cells of any characters."""
    kind = str(generator.choice((".csv", ".tsv", ".csv.gz", ".parquet")))
    alphabet = list("ab,;\t\n\"' é\u2028\u00a0\U0001f9ea1.5-=<|\\")
    notes = ["".join(generator.choice(alphabet, generator.integers(1, 9))) for _ in range(9)]
    path, rows = folder / f"table{kind}", make_rows(generator, notes)
    write(path, rows)
    return Attempt("cell of any text", compare(limited.call(read, path), rows, kind, may_refuse=False))


def attack_with_blanks_in_smiles(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Break a SMILES in two."""
    smiles, path = str(generator.choice(("CCO", "CC(C)CN", "OC=CC"))), folder / "table.csv"
    at = int(generator.integers(1, len(smiles)))
    blank = " \t\n\0\u00a0"[generator.integers(5)]
    path.write_text(f'id,smiles\na,C\nb,"{smiles[:at]}{blank}{smiles[at:]}"\n', encoding="utf-8", newline="")
    outcome = limited.call(read_pool, path)
    told = outcome.refused or (outcome.value and outcome.value[0] == ("a",))
    return Attempt("blank within a SMILES", outcome.fault or ("" if told else "read a part of the molecule"))


def suggest_from_a_hostile_pool(generator: np.random.Generator, folder: Path, limited: Limited) -> Attempt:
    """Let the command suggest molecules from a pool, and look for code in its page."""
    pool, page = folder / "pool.csv", folder / "page.html"
    page.unlink(missing_ok=True)
    bad = str(generator.choice([*DANGEROUS, "C" * 700, "x" * 200_000]))
    rows = [[f"m{k}", smiles, "", ""] for k, smiles in enumerate(SMILES)]
    rows[1][0] = bad if len(bad) < 100 else "m1"
    rows[2][1] = bad if len(bad) > 100 else rows[2][1]
    write(pool, rows)
    out = folder / f"{generator.bytes(6).hex()}.csv"
    code, printed = run_command(["suggest", pool, "--maximize", "y", "--n", "2", "--html", page, "--out", out], 60)
    if "Traceback" in printed or code != (1 if len(bad) > 100 else 0):
        words = printed.strip().splitlines() or [""]
        return Attempt("pool of the command", f"{bad[:20]!r}: exit code {code}, {words[-1][:150]}")
    leak = page.exists() and bad == SCRIPT and bad in page.read_text(encoding="utf-8")
    return Attempt("pool of the command", "code in the page" if leak else "")


ATTACKS = (
    attack_with_bytes,
    attack_with_truncation,
    attack_with_a_flipped_bit,
    attack_with_surplus_cells,
    attack_with_equal_columns,
    attack_with_an_encoding,
    attack_with_a_giant_cell,
    attack_with_a_giant_molecule,
    attack_with_dangerous_cells,
    attack_with_any_text,
    attack_with_blanks_in_smiles,
)
RARE = (attack_with_a_bomb, suggest_from_a_hostile_pool)  # they take seconds


def attack(generator: np.random.Generator, folder: Path) -> Iterator[Attempt]:
    """Attack the readers of tables, without end."""
    limited = Limited()
    try:
        for turn in itertools.count():
            for make in (*ATTACKS, *([RARE[turn // 5 % 2]] if turn % 5 == 0 else [])):
                yield make(generator, folder, limited)
    finally:
        limited.close()
