"""The notebooks of examples/notebooks run from top to bottom, and are kept without outputs."""

import ast
import json
import re

import pytest
from support.notebooks import NOTEBOOKS, clean, code_of, play, read_notebook

EXPECTED = {  # a sentence that the notebook prints, and how many pictures it draws
    "bandit": ("30 graphs; the first has 20 nodes", 3),
    "molecules": ("The pool holds a better qed with a probability of", 3),
    "own_graphs": ("GraphSet(200 graphs, 12 to 24 nodes, 11 features)", 5),
}
OF_A_MACHINE = re.compile(r"/(?:home|root|Users|tmp|work|content)/|\b[A-Z]:\\")

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def outputs_of(played):
    return [output for cell in played.cells for output in cell.get("outputs", ())]


def test_there_are_three():
    assert {path.stem for path in NOTEBOOKS} == EXPECTED.keys()


@every_notebook
def test_notebook_runs_in_an_empty_folder(path, tmp_path, monkeypatch):
    folder = tmp_path / "empty"
    folder.mkdir()
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):  # so that the user's settings count nothing
        monkeypatch.setenv(name, str(tmp_path / name))
    outputs = outputs_of(play(path, folder))
    sentence, pictures = EXPECTED[path.stem]
    assert sentence in "".join(output.text for output in outputs if output.get("name") == "stdout")
    assert sum("image/png" in output.get("data", ()) for output in outputs) == pictures


@every_notebook
def test_notebook_is_kept_without_outputs(path):
    assert path.read_text(encoding="utf-8") == clean(read_notebook(path)), (
        "PYTHONPATH=tests python -m support.notebooks"
    )


@every_notebook
def test_notebook_names_no_folder_of_a_machine(path):
    assert OF_A_MACHINE.findall(path.read_text(encoding="utf-8")) == []


@every_notebook
def test_the_first_program_installs_where_the_package_is_missing(path):
    first = next(cell for cell in read_notebook(path)["cells"] if cell["cell_type"] == "code")
    *_, condition, command = "".join(first["source"]).splitlines()
    assert condition.startswith('if find_spec("graph_bandit_env") is None')
    assert re.fullmatch(r'    %pip install --quiet "graph-bandit-env(\[chem\])?"', command)
    assert ("chem" in command) == (path.stem == "molecules")


def test_cleaning_takes_out_what_playing_left():
    cell = {"cell_type": "code", "id": "a", "source": ["1 + 1"], "metadata": {"collapsed": True}}
    played = {"cells": [{**cell, "execution_count": 7, "outputs": [{"data": {"text/plain": ["2"]}}]}], "metadata": {}}
    cleaned = json.loads(clean(played))
    assert cleaned["cells"] == [{**cell, "execution_count": None, "outputs": [], "metadata": {}}]
    assert cleaned["metadata"]["kernelspec"]["name"] == "python3"
    assert json.loads(clean(cleaned)) == cleaned


def test_the_code_of_a_notebook_is_python():
    cells = [("markdown", ["# text"]), ("code", ["if 1:\n", "    %pip install x\n", "a = 3 % 2"]), ("code", ["!ls\n"])]
    notebook = {"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}
    assert ast.unparse(ast.parse(code_of(notebook))) == "if 1:\n    pass\na = 3 % 2\npass"
