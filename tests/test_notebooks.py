"""The notebooks of examples/notebooks run from top to bottom, and are kept without outputs."""

import pytest
from support.notebooks import NOTEBOOKS, clean, play, read_notebook

EXPECTED = {  # a sentence that the notebook prints, and how many pictures it draws
    "bandit": ("30 graphs; the first has 20 nodes", 3),
    "molecules": ("The pool holds a better qed with a probability of", 3),
    "own_graphs": ("GraphSet(200 graphs, 12 to 24 nodes, 11 features)", 5),
}

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def outputs_of(played):
    return [output for cell in played.cells for output in cell.get("outputs", ())]


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
