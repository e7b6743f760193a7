"""The line that begins a property of an SDF file is read in one pass."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from graph_bandit_env.tables import open_table
from graph_bandit_env.tables.sdf import LONGEST


@given(st.lists(st.text("<> ayé\t()7", max_size=12), min_size=1, max_size=4))
@example(["<<name>"])
@example(["  <a<b> c> <d>"])
@example(["<>"])
@example(["> <a>"])
def test_ragged_headers_name_what_the_expression_of_earlier_versions_found(tmp_path_factory, headers):
    path = tmp_path_factory.mktemp("sdf") / "pool.sdf"
    path.write_text("".join(f"t\n>{text}\n1\n\n$$$$\n" for text in headers), encoding="utf-8")
    earlier = [re.match(r">.*?<([^>]*)>", f">{text}") for text in headers]
    named = {match[1].strip() for match in earlier if match} - {""}  # columns without a name are left out
    with open_table(path) as table:
        assert set(table.columns) - {""} == {"smiles", "id", *named} | ({"title"} if "id" in named else set())


def test_a_line_of_as_many_brackets_as_a_record_may_have_is_no_property(tmp_path):
    path = tmp_path / "pool.sdf"
    path.write_text(f"t\n>{'<' * (LONGEST - 100)}\n$$$$\n", encoding="utf-8")  # 10^13 steps where each `<` is a start
    with open_table(path) as table:
        assert table.columns == ("smiles", "id")
