"""Small files that unpack to gigabytes, or take hours to read."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable

import numpy as np


def packed(content: bytes, times: int) -> bytes:
    """Return a gzip file of many equal members, without packing them all."""
    return gzip.compress(b"id,smiles\na,C\n") + gzip.compress(content) * times


def book_with(parts: dict[str, bytes], repeat: dict[str, tuple[bytes, int, bytes]]) -> bytes:
    """Return a workbook with parts replaced; a tuple is a head, how often its middle is repeated, and both."""
    import openpyxl

    content, book = io.BytesIO(), openpyxl.Workbook()
    book.active.append(["id", "smiles"])
    book.save(content)
    made = io.BytesIO()
    with zipfile.ZipFile(content) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        parts = {name: old.read(name) for name in old.namelist() if name not in repeat} | parts
        if STRINGS in repeat:
            parts[TYPES] = parts[TYPES].replace(b"</Types>", TYPE_OF_STRINGS + b"</Types>")
        for name, whole in parts.items():
            new.writestr(name, whole)
        for name, (head, times, middle) in repeat.items():
            with new.open(name, "w", force_zip64=True) as part:
                part.write(head)
                for _ in range(times):
                    part.write(middle)
    return made.getvalue()


def parquet_of(rows: int) -> bytes:
    """Return a Parquet file of equal rows."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    content, part = io.BytesIO(), pa.table({"smiles": pa.array(["C"] * 10**6).dictionary_encode()})
    with ParquetWriter(content, part.schema) as writer:
        for _ in range(rows // 10**6):
            writer.write_table(part)
    return content.getvalue()


SHEET, STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
TYPES = "[Content_Types].xml"
TYPE_OF_STRINGS = (
    b'<Override PartName="/xl/sharedStrings.xml" '
    b'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
)
OPEN = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
CELL = b'<c r="A1" t="inlineStr"><is><t>id</t></is></c>'
LINES = [b'<!ENTITY l%d "%s">' % (k, (b"&l%d;" % (k - 1)) * 10 if k else b"lol") for k in range(10)]
LAUGHS = b"<!DOCTYPE x [" + b"".join(LINES) + b"]>"
WIDE = b'<row><c r="ZZZ1"><v>1</v></c></row>'
STRING = b"<si><t>x</t></si>"
END = b"</sheetData></worksheet>"


def far_row(generator: np.random.Generator) -> bytes:
    """Return a workbook with a row behind the last one that Excel has."""
    number = 10 ** int(generator.integers(7, 12))
    row = b'<row r="1">' + CELL + b'</row><row r="%d"><c><v>1</v></c></row>' % number
    return book_with({SHEET: OPEN + row + END}, {})


BOMBS: dict[str, Callable[[np.random.Generator], bytes]] = {
    "zeros.csv.gz": lambda _: packed(bytes(1 << 24), 64),
    "endless.csv.gz": lambda _: packed(b"C," * (1 << 23), 64),
    "rows.csv.gz": lambda _: packed(b"molecule,CCOCCOC\n" * (1 << 20), 8),
    "quoted.csv.gz": lambda _: packed(b'b,"' + b"\n" * (1 << 24), 64),
    "title.smi.gz": lambda _: packed(b"C" * (1 << 24), 64),
    "record.sdf.gz": lambda _: packed(b"x\n" * (1 << 23), 64),
    "names.sdf": lambda _: b"".join(b"t\n\n> <p%d>\n1\n\n$$$$\n" % k for k in range(30_000)),
    "columns.csv": lambda _: b",".join(b"c%d" % k for k in range(200_000)) + b"\n1\n",
    "sheet.xlsx: blanks": lambda _: book_with({}, {SHEET: (OPEN, 16, b" " * (1 << 24))}),
    "sheet.xlsx: cells": lambda _: book_with({}, {SHEET: (OPEN, 16, b"<row><c/></row>" * (1 << 20))}),
    "sheet.xlsx: a million strings": lambda _: book_with({}, {STRINGS: (b"<sst>", 14, STRING * (1 << 16))}),
    "sheet.xlsx: many strings": lambda _: book_with({}, {STRINGS: (b"<sst>", 256, STRING * (1 << 16))}),
    "sheet.xlsx: far row": far_row,
    "sheet.xlsx: far columns": lambda _: book_with({SHEET: OPEN + WIDE * 20_000 + END}, {}),
    "sheet.xlsx: laughs": lambda _: book_with({SHEET: LAUGHS + OPEN + b"<row>&l9;</row>" + END}, {}),
    "rows.parquet": lambda _: parquet_of(10**8),
}
