"""Small files that unpack to gigabytes, or take hours to read."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable


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
        for name, whole in parts.items():
            new.writestr(name, whole)
        for name, (head, times, middle) in repeat.items():
            with new.open(name, "w", force_zip64=True) as part:
                part.write(head)
                for _ in range(times):
                    part.write(middle)
    return made.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
OPEN = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
FAR = b'<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c></row><row r="1000000000"><c><v>1</v></c></row>'
LINES = [b'<!ENTITY l%d "%s">' % (k, (b"&l%d;" % (k - 1)) * 10 if k else b"lol") for k in range(10)]
LAUGHS = b"<!DOCTYPE x [" + b"".join(LINES) + b"]>"
END = b"</sheetData></worksheet>"


BOMBS: dict[str, Callable[[], bytes]] = {
    "endless.csv.gz": lambda: packed(b"C," * (1 << 23), 64),
    "rows.csv.gz": lambda: packed(b"molecule,CCOCCOC\n" * (1 << 20), 8),
    "record.sdf.gz": lambda: packed(b"x\n" * (1 << 23), 64),
    "columns.csv": lambda: b",".join(b"c%d" % k for k in range(200_000)) + b"\n1\n",
    "sheet.xlsx: cells": lambda: book_with({}, {SHEET: (OPEN, 16, b"<row><c/></row>" * (1 << 20))}),
    "sheet.xlsx: far row": lambda: book_with({SHEET: OPEN + FAR + END}, {}),
    "sheet.xlsx: laughs": lambda: book_with({SHEET: LAUGHS + OPEN + b"<row>&l9;</row>" + END}, {}),
}
