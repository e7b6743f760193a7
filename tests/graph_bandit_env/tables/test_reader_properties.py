"""Any bytes are a clear error or a table, and any table comes back cell by cell."""

import gzip

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graph_bandit_env.tables import open_table
from graph_bandit_env.tables.opening import OTHERS, TEXT

parquet = pytest.importorskip("pyarrow.parquet")
KINDS = (*TEXT, *(f"{kind}.gz" for kind in TEXT), *OTHERS)
MARKUP = (b'"', b"<", b">", b"> <y>\n1\n", b"$$$$\n", b"\0", b"\xff\xfe", b"\xfc")
PIECES = (b"id", b"smiles", b"C", b"\n", b"\r", b",", b";", b"\t", *MARKUP)
ANY_BYTES = st.binary(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)


def read(path):
    """Columns, rows and problems; None if the table was refused in the words that all refusals begin with."""
    try:
        with open_table(path) as table:
            return table.columns, [cells for _, cells in table.rows(table.columns)], table.problems
    except ValueError as error:
        if str(error).startswith("Expected"):
            return None
        raise


@settings(max_examples=40)
@given(st.sampled_from(KINDS), ANY_BYTES, st.booleans())
@example(".csv", "id\n".encode("utf-32"), False)
@example(".xlsx", b"PK\x05\x06" + bytes(18), False)
@example(".parquet", b"PAR1" + bytes(4) + b"PAR1", False)
def test_any_bytes_are_a_clear_error_or_a_table(tmp_path_factory, kind, content, packed):
    path = tmp_path_factory.getbasetemp() / f"any{kind}"
    path.write_bytes(gzip.compress(content) if packed and kind.endswith(".gz") else content)
    if (found := read(path)) is not None:
        columns, rows, problems = found
        assert all(len(row) == len(columns) and all(isinstance(cell, str) for cell in row) for row in rows)
        assert all(number > 0 and text for number, text in problems)
