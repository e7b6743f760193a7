"""The notebooks of examples/notebooks run from top to bottom, and are kept without outputs."""

import json
import os

import pytest
from support import ROOT

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
EXPECTED = {  # a sentence that the notebook prints, and how many pictures it draws
    "bandit": ("30 graphs; the first has 20 nodes", 3),
    "molecules": ("the pool still holds a better qed", 3),
    "own_graphs": ("GraphSet(200 graphs, 12 to 24 nodes, 11 features)", 5),
}
PATIENCE = 300  # seconds for a cell; a machine may have much else to do

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@every_notebook
def test_notebook_runs_in_an_empty_folder(path, tmp_path, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    folder = tmp_path / "empty"
    folder.mkdir()
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):  # so that the user's settings count nothing
        monkeypatch.setenv(name, str(tmp_path / name))
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(nbformat.read(path, 4), timeout=PATIENCE, kernel_name="python3", resources=resources)
    played = client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
    outputs = [output for cell in played.cells for output in cell.get("outputs", ())]
    sentence, pictures = EXPECTED[path.stem]
    assert sentence in "".join(output.text for output in outputs if output.get("name") == "stdout")
    assert sum("image/png" in output.get("data", ()) for output in outputs) == pictures


@every_notebook
def test_notebook_is_kept_without_outputs(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
