"""Read PyG graphs from a `.pt` file, which is unpickled safely, or from a folder of a TU dataset."""

from __future__ import annotations

import glob
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.other_sources import from_pyg_dataset
from graph_bandit_env.tables.damage import check_archive, check_unpacked, damaged, refuse_damage

if TYPE_CHECKING:
    from torch_geometric.data import Data

KINDS = ("labels", "attributes")  # of nodes, edges and graphs of a TU dataset
HOW_TO_SAVE = (
    "Save a list of plain PyG Data, whose attributes are tensors, numbers and texts: `torch.save(graphs, "
    "path)`. For a Batch, use `batch.to_data_list()`."
)


def read_pyg_file(path: Path, target: str | None, identifier: str | None, directed: bool | None = None) -> GraphPool:
    """Read PyG graphs written by `torch.save` or `InMemoryDataset.save`, or the text files of a TU dataset.

    Args:
        path: a file with a list or tuple of `Data`, or the data and slices of an `InMemoryDataset`. Or a folder with
            `NAME_A.txt`, also in `raw`, which is read like `TUDataset(use_node_attr=True, use_edge_attr=True)`.
        target: measured value, as in `from_pyg_dataset`: name of an attribute, or index of a column of `y` as text,
            such as "3".
        identifier: name of the attribute with the identifiers. If None, "0", "1", and so on.
        directed: as in `GraphSet`.

    Raises:
        ValueError: if the file is damaged, contains other objects, or a graph is not valid. No code in the file is run.
    """
    graphs = _load_folder(path) if path.is_dir() else _load_graphs(path)
    column = int(target) if target is not None and target.isdecimal() else target
    try:
        return from_pyg_dataset(graphs, column, identifier, directed)
    except Exception as error:  # tensors may be sparse, quantised or complex
        raise ValueError(f"{path.name}: {error}") from error


def find_edges(folder: Path) -> Path | None:
    """Return the file with the edges of a TU dataset, or None if the folder has none."""
    return next((path for path in (*folder.glob("*_A.txt"), *folder.glob("raw/*_A.txt"))), None)


def _load_folder(folder: Path) -> list[Data]:
    from torch import ones
    from torch_geometric.data import InMemoryDataset
    from torch_geometric.io import read_tu_data

    edges = find_edges(folder)
    if edges is None or glob.escape(str(edges)) != str(edges):
        raise ValueError(
            f"Expected a file `NAME_A.txt` in a folder without `*`, `?` and `[` in its path. Got {folder}."
        )
    prefix, folder = edges.name.removesuffix("_A.txt"), edges.parent
    with refuse_damage(folder):
        graph_of = np.loadtxt(folder / f"{prefix}_graph_indicator.txt", np.int64, ndmin=1)
        if (np.diff(graph_of) < 0).any() or graph_of[0] < 1 or graph_of[-1] > len(graph_of):
            raise ValueError("nodes that are not sorted by their graphs")
        labels = [np.loadtxt(path, np.int64, delimiter=",", ndmin=2) for path in folder.glob(f"{prefix}_*_labels.txt")]
        check_unpacked(folder, sum(4 * len(rows) * int((np.ptp(rows, axis=0) + 1.0).sum()) for rows in labels))
        starts = np.loadtxt(edges, np.int64, delimiter=",", ndmin=2)[:, 0]
        dataset = InMemoryDataset()
        dataset.data, dataset.slices, _ = read_tu_data(str(folder), prefix)
        graphs = list(dataset)
        counts = np.bincount(graph_of[starts - 1] - 1, minlength=len(graphs))
    names = {path.name for path in folder.glob(f"{prefix}_*.txt")}
    labelled = "attributes" if f"{prefix}_graph_attributes.txt" in names else "labels"
    read = ["A", "graph_indicator", f"graph_{labelled}", *(f"{a}_{b}" for a in ("node", "edge") for b in KINDS)]
    for graph, count in zip(graphs, counts.tolist(), strict=True):
        for name in names - {f"{prefix}_{part}.txt" for part in read}:
            graph[name] = "a file"  # so that it is reported as not read
        if count > graph.num_edges:
            graph["loops and parallel edges"] = count - graph.num_edges  # PyG sums the features of parallel edges
        if graph.x is None:
            graph.x = ones(graph.num_nodes, 1)
    return graphs


def _load_graphs(path: Path) -> list[Data]:
    from torch_geometric.data import Data, InMemoryDataset

    content = _load(path)
    with refuse_damage(path):
        if isinstance(content, tuple) and len(content) in (2, 3) and isinstance(content[1], dict):
            dataset, (graphs, slices) = InMemoryDataset(), content[:2]
            _check_size(path, slices.values())
            dataset.data = Data.from_dict(graphs) if isinstance(graphs, dict) else graphs
            dataset.slices = slices
            content = list(dataset)
    if not isinstance(content, list | tuple) or not content or {*map(type, content)} != {Data}:
        kinds = sorted({type(each).__name__ for each in content}) if isinstance(content, list | tuple) else []
        found = f"a {type(content).__name__} of {', '.join(kinds) or 'no graphs'}"
        raise ValueError(f"Expected a list of PyG Data in {path}. Got {found}. {HOW_TO_SAVE}")
    with refuse_damage(path):
        _check_size(path, (value for graph in content for _, value in graph))
    return list(content)


def _load(path: Path) -> object:
    """Load a file with torch's restricted unpickler, which only builds tensors and PyG graphs."""
    import torch
    from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals
    from torch_geometric.data.data import Data, DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    check_archive(path)
    try:
        with safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]):
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:  # its message explains how to load unsafe files
        with refuse_damage(path):
            strangers = ", ".join(sorted(get_unsafe_globals_in_checkpoint(path)))
        raise ValueError(
            f"Expected only tensors and PyG Data in {path}. Got {strangers or 'another object'}, which is not loaded, "
            f"since it may run code. {HOW_TO_SAVE}"
        ) from None
    except Exception as error:
        raise damaged(path, error) from error


def _check_size(path: Path, values: Iterable[object]) -> None:
    """Reject tensors that are far larger than the file, such as expanded views of a few numbers."""
    from torch import Tensor, strided

    tensors = [value for value in values if isinstance(value, Tensor)]
    parts = [
        each if each.layout == strided else each._values() if each.is_sparse else each.values() for each in tensors
    ]
    sizes = [part.numel() * (1 if part is each else 3) for part, each in zip(parts, tensors, strict=True)]
    check_unpacked(path, sum(size * each.element_size() for size, each in zip(sizes, tensors, strict=True)))
