"""Rows of a table are actions: what stands in slots, which rows are one action, and what is refused."""

import re

import numpy as np
import pytest

from graph_bandit_env.files import read_pool
from graph_bandit_env.pools import read_actions

pytest.importorskip("rdkit")
RUNS = """id,base,solvent_smiles,heat,who,y
a,KOtBu,CC#N,"60",x,1
b,none,OCC,80.5,x,
c,KOtBu,N#CC,60.0,z,3
d,,CCO,80.5,x,4
"""


def read(tmp_path, text=RUNS, slots="base heat", target="y", **options):
    (tmp_path / "runs.csv").write_text(text)
    return read_actions(tmp_path / "runs.csv", {name: name for name in slots.split()}, target, **options)


def test_columns_are_slots_of_the_kind_that_they_hold_and_equal_rows_one_action(tmp_path):
    table = read(tmp_path, ignore_columns=["who"])
    solvent, base, heat = table.actions.slots
    assert [(slot.name, slot.kind) for slot in table.actions.slots] == [
        ("solvent_smiles", "structure"),
        ("base", "category"),
        ("heat", "number"),
    ]
    assert (solvent.spelt, base.spelt, heat.spelt) == (["CC#N", "CCO"], ["KOtBu", "none", ""], ["60", "80.5"])
    assert (table.actions.ids, table.owners.tolist(), table.lines.tolist()) == (
        ("a", "b", "d"),
        [0, 1, 0, 2],
        [2, 3, 4, 5],
    )
    assert (dict(table.actions.aliases), table.differing) == ({"c": "a"}, ["who", "y"][:1])
    assert np.array_equal(table.actions.targets, [2, np.nan, 4], equal_nan=True)
    assert table.remarks == ["slots solvent_smiles (2 structures), base (3 categories), heat (2 numbers)"]


def test_the_text_of_an_action_is_the_same_however_its_parts_are_written(tmp_path):
    actions = read(tmp_path, ignore_columns=None).actions
    text = '{"heat": "80.50", "base": " none ", "solvent_smiles": "C(O)C"}'
    assert actions.spell(text) == actions.texts[1]
    longer = actions.join({"new": actions.texts[1].replace("CCO", "CCN").replace("80.5", "90")})
    assert longer.parts_of(3) == ("CCN", "none", 90.0)
    assert (longer.texts[:3], longer.ids, longer.aliases) == (actions.texts, ("a", "b", "d", "new"), actions.aliases)
    assert actions.take([2, 0]).texts == (actions.texts[2], actions.texts[0])
    for wrong, problem in (('"80.50"', '"warm"'), ('"C(O)C"', '"C(O"')):
        with pytest.raises(ValueError, match="number in `heat`|`solvent_smiles`"):
            actions.spell(text.replace(wrong, problem))


def test_numbers_have_the_decimal_mark_of_the_table(tmp_path):
    table = read(tmp_path, "id;solvent_smiles;heat\na;CCO;60,5\nb;CCO;7\nc;CC#N;60,50\n", "heat", None)
    assert table.actions.slots[1].choices == (7.0, 60.5)
    assert table.actions.texts[0] == '{"heat": "60.5", "solvent_smiles": "CCO"}'


@pytest.mark.parametrize(
    ("change", "options", "problem"),
    [
        (("", ""), {}, "`--slot who`. If these rows are replicates, pass `--ignore-column who`"),
        (("CC#N", "C#C#C"), {}, "line 2: `solvent_smiles`: RDKit reads no molecule"),
        (("80.5,x,\n", ",x,\n"), {}, "line 3: expected a number in `heat`. Got nothing."),
        (("b,none", "a,none"), {"identifier": "id"}, "line 3: `a` is another action above."),
        (("solvent_smiles", "solvent"), {"slots": "base temp"}, "a column `temp`"),
        ((re.compile("CC#N|OCC|N#CC|CCO"), "wet"), {"slots": ""}, "Name slots by `--slot COLUMN`"),
    ],
)
def test_what_cannot_be_read_is_refused_or_left_out(tmp_path, change, options, problem):
    text = re.sub(change[0], change[1], RUNS, count=0 if options.get("slots") == "" else 1)
    given = {"ignore_columns": ["who"] if change[1] else (), **options}
    with pytest.raises(ValueError, match=re.escape(problem)):
        read(tmp_path, text, **given)
    if "line" in problem and not options:
        left = read(tmp_path, text, **given, on_error="skip")
        assert (len(left.owners), len(left.bad)) == (3, 1)


@pytest.mark.parametrize("source", ["bipartite", "graphs.jsonl"])
def test_slots_of_what_is_no_table_are_refused(source):
    with pytest.raises(ValueError, match="Expected a table of molecules for `slots`"):
        read_pool(source, slots=["base"])


def test_names_that_several_actions_have_are_left_out_and_reported(tmp_path):
    table = read(tmp_path, RUNS.replace("id,", "name,").replace("d,,", "b,,"), ignore_columns=["who"])
    assert table.actions.ids == ("a", "CCO | none | 80.5", "CCO | (none) | 80.5")
    assert "names of several molecules, which have others instead: `b`" in table.remarks
    assert "name" not in table.cells
