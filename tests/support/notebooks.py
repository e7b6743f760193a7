"""Read, play and clean the notebooks of examples/notebooks, which are kept without outputs.

    PYTHONPATH=tests python -m support.notebooks

takes out what playing them has left there: outputs, numbers of cells, settings of an editor.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from support import ROOT

if TYPE_CHECKING:
    from nbformat import NotebookNode

Notebook: TypeAlias = dict[str, object]

NOTEBOOKS = tuple(sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")))
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
PATIENCE = 300  # seconds for a cell; a machine may have much else to do


def read_notebook(path: Path) -> Notebook:
    """Return what a notebook's file holds."""
    return json.loads(path.read_text(encoding="utf-8"))


def clean(notebook: Notebook) -> str:
    """Return the text of a notebook's file with nothing but its cells, in the form in which Jupyter writes it."""
    cells = []
    for cell in notebook["cells"]:
        kept = {name: cell[name] for name in ("cell_type", "id", "source")} | {"metadata": {}}
        cells.append(kept | ({"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {}))
    whole = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def play(path: Path, folder: Path) -> NotebookNode:
    """Play a notebook in a kernel of this Python, which imports the packages of this tree, and return it with outputs.

    Args:
        path: the notebook.
        folder: where it is played.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell fails.
    """
    import nbformat
    from nbclient import NotebookClient

    client = NotebookClient(
        nbformat.read(path, as_version=4),
        timeout=PATIENCE,
        kernel_name=METADATA["kernelspec"]["name"],
        resources={"metadata": {"path": str(folder)}},
    )
    return client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})


if __name__ == "__main__":
    for notebook in NOTEBOOKS:
        notebook.write_text(clean(read_notebook(notebook)), encoding="utf-8")
