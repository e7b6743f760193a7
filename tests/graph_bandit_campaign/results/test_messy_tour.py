"""A tour of messy tables: each is read right, refused with its line, or taken and told; the guide lists them all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from support import ROOT

from graph_bandit_campaign.command.inputs import read_inputs
from graph_bandit_campaign.command.question import measurements_of
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.report.answer import Answer
from graph_bandit_campaign.results.rows import ResultTables
from graph_bandit_campaign.state import CampaignState

openpyxl = pytest.importorskip("openpyxl")
GUIDE = ROOT / "docs" / "guides" / "messy_tables.md"
SMILES = ("CCO", "CCN", "CCCl", "CCCO", "CCCN", "c1ccccc1", "CCCCO", "CCCCN", "Oc1ccccc1", "CCCCCl", "CC(C)O", "CC(C)N")
VALUES = (1.0, 2.0, 1.5, 2.2, 1.8, 2.4)  # of m0 to m5
READ, REFUSED, TOLD = "read right", "refused", "taken and told"


@dataclass(frozen=True)
class Case:
    """A messy table, or an option, and what becomes of it."""

    what: str
    """What the table holds, as the guide says it."""
    outcome: str
    """What becomes of it."""
    says: str = ""
    """A part of what is said; empty if it is read right."""
    value: str = ""
    """Cell of m6, in a row after the others."""
    expected: Sequence[float | str] = ()
    """Results of m6."""
    rows: Sequence[Sequence[object]] = ()
    """Further rows of results."""
    results: Sequence[Sequence[object]] | None = None
    """All rows of results, with their header."""
    separator: str = ","
    pool: Sequence[Sequence[object]] = (("id", "smiles"), *((f"m{k}", text) for k, text in enumerate(SMILES)))
    format: str = ""
    """Format of the cell of m6 in a workbook."""
    merged: str = ""
    """Range of cells that are merged in a workbook."""
    hidden: int = 0
    """Row that is hidden in a workbook."""
    options: Mapping[str, object] = field(default_factory=dict)


def pool_with(header, cells, pool=("id", "smiles")):
    """Return a pool with one more column."""
    rows = [(f"m{k}", text, cell) for k, (text, cell) in enumerate(zip(SMILES, cells, strict=True))]
    return ((*pool, header), *rows)


def numbered(form):
    return (("id", "smiles"), *((form.format(k), text) for k, text in enumerate(SMILES)))


def results_of(*rows, header=("id", "logd")):
    return (header, *rows)


told, refused = partial(Case, outcome=TOLD), partial(Case, outcome=REFUSED)
comma, tab, book = (
    partial(refused, separator=";"),
    partial(refused, separator="\t"),
    partial(refused, separator=".xlsx"),
)


def right(what, value="", expected=(), **more):
    return Case(what, READ, value=value, expected=expected, **more)


FIRST = ("m0", 1.0)
TOUR = {
    "A value": [
        right("`２.２５`, in full-width digits", "２.２５", [2.25]),
        right("`\N{MINUS SIGN}0.5`, with the minus sign of a word processor", "\N{MINUS SIGN}0.5", [-0.5]),
        refused("`\N{EN DASH}0.5`, with an en dash", says="Write a minus as `-`", value="\N{EN DASH}0.5"),
        refused("`12%`", says="Write shares without `%`", value="12%"),
        *(
            refused(f"`{text}`", says=f"line 8: expected a number, a bound such as `>4.5`, {words}", value=text)
            for text, words in (
                ("~2.25", "`failed`, `pending` or nothing. Got '~2.25'. Write the number alone."),
                ("2.25*", "`failed`, `pending` or nothing. Got '2.25*'. Write the number alone."),
                ("(2.25)", "`failed`, `pending` or nothing. Got '(2.25)'. Write the number alone."),
                ("2.25 nM", "`failed`, `pending` or nothing. Got '2.25 nM'. Write the number alone."),
                ("inactive", "`failed`, `pending` or nothing. Got 'inactive'."),
                ("1<x<4", "`failed`, `pending` or nothing. Got '1<x<4'. Write the number alone."),
            )
        ),
        refused("`2.25 ± 0.1`", says="its standard deviation needs a column of its own", value="2.25 ± 0.1"),
        refused("`2.1-2.4`", says="Write one number for the range", value="2.1-2.4"),
        refused("`<LOD`", says="expected a number after `<`. Got 'LOD'.", value="<LOD"),
        refused("`>=<4`", says="expected a number after `>=`. Got '<4'.", value=">=<4"),
        refused("`02.Mrz`, a date of Excel", says="That is a date", value="02.Mrz"),
        refused("`2026-03-02`, a date", says="That is a date", value="2026-03-02"),
        told("`45353`, a date as a number", says="Check m6 (4.535e+04): far from all other results.", value="45353"),
    ],
    "Decimal marks": [
        refused(
            '`"1,234"` between commas', says="Write 3.5 for three and a half, 1234 for a thousand", value='"1,234"'
        ),
        right("`1.234` between commas", "1.234", [1.234]),
        right("`1,234` between semicolons", "1,234", [1.234], separator=";"),
        comma(
            "`1.234` between semicolons, among decimal commas",
            says="'1.234', which is 1234 to some and a fraction to others. Write 1234, or 1,2340.",
            value="1.234",
        ),
        comma(
            "`1.234` between semicolons, where nothing tells the decimal mark",
            says="'1.234', which is 1234 to some",
            results=results_of(("m0", 950), ("m1", "1.234")),
        ),
        right(
            "`1.234` between semicolons, among decimal points",
            expected=[1.234],
            separator=";",
            results=results_of(("m0", "0.95"), ("m6", "1.234")),
        ),
        comma("`1.234,5` between semicolons", says="1234 for a thousand", value="1.234,5"),
        right("`1.5` among decimal commas", "1.5", [1.5], separator=";"),
        right("`1,5` between tabs, among decimal commas", "1,5", [1.5], separator="\t"),
        tab("`1.234` between tabs, among decimal commas", says="which is 1234 to some", value="1.234"),
        tab(
            "`1,5` between tabs, among decimal points",
            says="line 3: expected a number",
            results=results_of(("m0", "0.5"), ("m1", "1,5")),
        ),
    ],
    "Rows without a result": [
        refused(
            "a title above the header",
            says="It has Results of March. If that is a title, delete it.",
            results=(("Results of March",), ("id", "logd"), FIRST),
        ),
        refused("a row of units", says="line 2: expected", results=results_of(("", "nM"), FIRST)),
        refused("a row of means", says="line 8: the pool has no `mean`", rows=[("mean", 1.8)]),
        refused("a row of means without a name", says="line 8: a value without a molecule", rows=[("", 1.8)]),
    ],
    "Names": [
        refused(
            "`1` or `1.0`, which is `001` in the pool",
            says="Did you mean `001`?",
            pool=numbered("{:03}"),
            results=results_of(("000", 1), ("1.0", 2)),
        ),
        refused(
            "`001`, which is `1` in the pool",
            says="Did you mean `1`?",
            pool=numbered("{}"),
            results=results_of(("0", 1), ("001", 2)),
        ),
        refused("`M6`, which is `m6` in the pool", says="Did you mean `m6`?", rows=[("M6", 2)]),
        right("a no-break space around a name", expected=[2.0], rows=[("\u00a0m6\u00a0", 2)]),
        refused("a no-break space in a name", says=r"The row has 'm6\xa0b'.", rows=[("m6\u00a0b", 2)]),
        refused("an id of another project", says="the pool has no `X-77`, and there is no SMILES", rows=[("X-77", 2)]),
        told(
            "an id of another project with its SMILES",
            says="Measured, but not in the pool: X-77.",
            results=results_of(("m0", "CCO", 1), ("X-77", "CCCCCCC", 2), header=("id", "smiles", "logd")),
        ),
        refused(
            "one id for two molecules",
            says="`X-1` is CCCCCC above, and CCCCCCC here",
            results=results_of(("X-1", "CCCCCC", 1), ("X-1", "CCCCCCC", 2), header=("id", "smiles", "logd")),
        ),
        refused(
            "id and SMILES swapped",
            says="RDKit reads no molecule from 'm0'",
            results=results_of(("CCO", "m0", 1), header=("id", "smiles", "logd")),
        ),
        right("`ID` in place of `id` in the pool", pool=(("ID", "smiles"), *Case.pool[1:])),
        right(
            "`ID` in place of `id` in the results", results=results_of(("m6", 2), header=("ID", "logd")), expected=[2.0]
        ),
        right(
            "`SMILES` in place of `smiles`", results=results_of(("CCCCO", 2), header=("SMILES", "logd")), expected=[2.0]
        ),
        told(
            "`logd` next to `LogD`",
            says="column `logd` of results.csv read, not `LogD`",
            results=results_of(("m0", 1, 3), header=("id", "logd", "LogD")),
        ),
        refused(
            "`LOGD` next to `LogD`",
            says="Expected one column `logd`",
            results=results_of(("m0", 1, 3), header=("id", "LOGD", "LogD")),
        ),
    ],
    "Values that do not fit together": [
        told("a value 1,000 times as large as the others", says="Check m6 (2250): far from all other", value="2250"),
        told("`22.5` for `2.25`", says="Check m6 (22.5): far from all other results.", value="22.5"),
        told(
            "two conditions of the assay in one column",
            says="Check m0 (1 and 6), m1 (2 and 7.5): results that differ as much as those of different molecules.",
            rows=[("m0", 6), ("m1", 7.5)],
        ),
        told("a replicate far from its twin", says="Check m0 (1 and 3.5): results that differ", rows=[("m0", 3.5)]),
        right("a replicate near its twin", rows=[("m0", 1.1)]),
        told("`failed` next to a value", says="Check m0 (1, failed): one excludes the other.", rows=[("m0", "failed")]),
        told("`>3` next to `1`", says="Check m0 (1, >3): one excludes the other.", rows=[("m0", ">3")]),
        told("`>3` next to `<2`", says="Check m6 (>3, <2): one excludes the other.", rows=[("m6", ">3"), ("m6", "<2")]),
        right("`pending` next to a value", rows=[("m0", "pending")]),
    ],
    "A workbook": [
        right("`>4,0` as text", ">4,0", [">4,0"], separator=".xlsx"),
        right("`2,5` as text", "2,5", [2.5], separator=".xlsx"),
        book("`1,234` as text", says="which is 1234 to some", value="1,234"),
        book("a cell that shows `12%`", says="row 8: expected a number", value="0.12", format="0%"),
        book("a cell of a date", says="That is a date", value="2.5", format="yyyy-mm-dd"),
        told("a hidden row", says="1 hidden rows of results.xlsx read, too", hidden=3, separator=".xlsx"),
        book(
            "a value that is merged over two rows",
            says="row 4: a cell that is merged with others, B3:B4",
            merged="B3:B4",
        ),
        book("a name that is merged over two rows", says="row 4: a cell that is merged with others", merged="A3:A4"),
    ],
    "Files": [
        refused(
            "`--measured pool.csv` without the values",
            says="Expected a column `logd`",
            options={"measured": ["pool.csv"]},
        ),
        right(
            "`--measured pool.csv` with the values",
            pool=pool_with("logd", [*VALUES, *[""] * 6]),
            options={"measured": ["pool.csv"]},
        ),
        told("one table twice", says="6 repeated results left out", options={"measured": ["results.csv"] * 2}),
        *(
            refused(f"`--{name}` on an input", says=f"Expected `--{name}` to differ", options={name: Path(file)})
            for name, file in (("out", "results.csv"), ("html", "results.csv"), ("predictions", "pool.csv"))
        ),
    ],
    "Limits and prices": [
        refused(
            '`--require "logd<2"` on the target',
            says="Expected limits on other quantities than the target",
            options={"require": ["logd<2"]},
        ),
        refused('`--require "mw<4OO"`', says="Expected a limit such as", options={"require": ["mw<4OO"]}),
        refused(
            '`--require "logp=4..1"`',
            says="from a smaller to a larger finite number",
            options={"require": ["logp=4..1"]},
        ),
        refused(
            '`--require "200<mw<400"`', says="Write `mw=200..400` for a range.", options={"require": ["200<mw<400"]}
        ),
        told('`--require "mw≤60"`', says="mw≤60 (computed) leaves 4.", options={"require": ["mw≤60"]}),
        refused("`--forbid painz`", says="Did you mean `pains`?", options={"forbid": ["painz"]}),
        refused(
            "a price with its currency, `12 EUR`",
            says="line 3: expected a number in `price`. Got '12 EUR'. Write the number alone.",
            pool=pool_with("price", [10, "12 EUR", *[10] * 10]),
            options={"price": "price"},
        ),
    ],
}
CASES = [case for cases in TOUR.values() for case in cases]


def write(case):
    """Write pool and results into the working folder, and return the name of the results."""
    Path("pool.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in case.pool), encoding="utf-8")
    rows = case.results
    if rows is None:
        rows = [("id", "logd"), *((f"m{k}", value) for k, value in enumerate(VALUES))]
        if case.separator in ";\t":
            rows = [(name, str(value).replace(".", ",")) for name, value in rows]
        rows += [*([("m6", case.value)] if case.value else []), *case.rows]
    if case.separator == ".xlsx":
        return write_workbook(case, rows)
    lines = (case.separator.join(map(str, row)) for row in rows)
    Path("results.csv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return "results.csv"


def write_workbook(case, rows):
    file = openpyxl.Workbook()
    for row in rows:
        file.active.append(row)
    if case.format:
        cell = file.active.cell(len(rows), 2, float(case.value))
        cell.number_format = case.format
    if case.hidden:
        file.active.row_dimensions[case.hidden].hidden = True
    if case.merged:
        file.active.merge_cells(case.merged)
    file.save("results.xlsx")
    return "results.xlsx"


def outcome_of(case):
    """Return what becomes of a table, what is said, and the results of m6."""
    options = {"measured": [write(case)], "out": Path("out.csv"), **case.options}
    measured = tuple(map(Path, options.pop("measured")))
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    try:
        settings = SuggestSettings(Path("pool.csv"), maximize=("logd",), measured=measured, workers=None, **options)
        inputs = read_inputs(settings, None, ResultTables.open(measured, settings.measured_sheet))
    except ValueError as error:
        return REFUSED, str(error), []
    books = inputs.books
    state = CampaignState("", True, 0, measurements_of(books, {}))
    answer = Answer(
        target="logd",
        pool_size=inputs.size,
        state=state,
        suggested=(),
        near={},
        smiles_of={},
        books=books,
        gone=(),
        limits=inputs.offer(None).note,
    )
    bounds = [books.bounds[name] for name in books.bounds if name == "m6"]
    notes = [*inputs.remarks, *(note for note in answer.notes if not note.startswith("Only a bound"))]
    exact = [result.value for result in state.measured if result.id == "m6" and not result.bound]
    return TOLD if notes else READ, "\n".join(notes), exact + bounds


@pytest.mark.parametrize("case", CASES, ids=[case.what for case in CASES])
def test_nothing_messy_is_taken_without_a_word(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome, said, found = outcome_of(case)
    assert (outcome, case.says in said) == (case.outcome, True), said
    assert found == [*case.expected] or not case.expected


def test_the_guide_has_all_of_the_tour():
    lines = []
    for title, cases in TOUR.items():
        lines += [f"### {title}", ""]
        for outcome in (READ, REFUSED, TOLD):
            items = [case.what for case in cases if case.outcome == outcome]
            lines += [f"- {outcome}: {'; '.join(items)}"] if items else []
        lines += [""]
    expected = "\n".join(lines)
    assert expected in GUIDE.read_text(encoding="utf-8"), f"Put this into {GUIDE}:\n{expected}"
