"""Read a pool of graphs from a `.pt` file of PyG, without unpickling anything but tensors and PyG's own graphs."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.other_sources import from_pyg_dataset
from graph_bandit_env.storage import unpacked_size
from graph_bandit_env.tables.damage import check_unpacked, damaged, refuse_damage

if TYPE_CHECKING:
    from torch_geometric.data import Data

HOW_TO_SAVE = (
    "Save a list of plain PyG Data, whose attributes are tensors, numbers and texts: `torch.save(graphs, path)`; for a "
    "Batch, `batch.to_data_list()`."
)


def read_pyg_file(path: Path, target: str | None, identifier: str | None, directed: bool | None = None) -> GraphPool:
    """Read PyG graphs that `torch.save` or `InMemoryDataset.save` wrote.

    Args:
        path: a list or tuple of `Data`, or the data and slices of an `InMemoryDataset`.
        target: the measured value, as in `from_pyg_dataset`: name of an attribute, or a column of `y`, written as a
            whole number such as "3".
        identifier: name of the attribute that holds the identifiers; None: "0", "1", and so on.
        directed: as in `GraphSet`.

    Raises:
        ValueError: if the file is damaged, holds anything but graphs, or a graph is not valid. Code in the file is not
            run.
    """
    graphs = _load_graphs(path)
    column = int(target) if target is not None and target.isdecimal() else target
    try:
        ids = None if identifier is None else [_identifier_of(k, graph, identifier) for k, graph in enumerate(graphs)]
        return from_pyg_dataset(graphs, column, ids, directed)
    except Exception as error:  # tensors may be of any kind: sparse, quantised, complex
        raise ValueError(f"{path.name}: {error}") from error


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
        kinds = type(content).__name__
        if isinstance(content, list | tuple):
            kinds += f" of {', '.join(sorted({type(graph).__name__ for graph in content})) or 'nothing'}"
        raise ValueError(f"Expected a list of PyG Data in {path}. Got a {kinds}. {HOW_TO_SAVE}")
    with refuse_damage(path):
        _check_size(path, (value for graph in content for _, value in graph))
    return list(content)


def _load(path: Path) -> object:
    """Load a file by the unpickler of torch that calls no function but those which make tensors and PyG's graphs."""
    import torch
    from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals
    from torch_geometric.data.data import Data, DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    with refuse_damage(path), ZipFile(path) as archive:
        check_unpacked(path, unpacked_size(archive))
    with safe_globals([Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]):
        with refuse_damage(path):
            strangers = sorted(get_unsafe_globals_in_checkpoint(path))
        if strangers:
            raise ValueError(
                f"Expected only tensors and PyG Data in {path}. Got {', '.join(strangers)}, which is not loaded, since "
                f"it may run code. {HOW_TO_SAVE}"
            )
        try:
            return torch.load(path, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError:  # its text tells how to load what may run code
            raise ValueError(
                f"Expected only tensors and PyG Data in {path}. Got what torch does not load safely. {HOW_TO_SAVE}"
            ) from None
        except Exception as error:
            raise damaged(path, error) from error


def _check_size(path: Path, values: Iterable[object]) -> None:
    """Refuse tensors that are far larger than the file: views of a few numbers, repeated."""
    from torch import Tensor

    check_unpacked(path, sum(value.numel() * value.element_size() for value in values if isinstance(value, Tensor)))


def _identifier_of(number: int, graph: Data, name: str) -> str:
    value = getattr(graph, name, None)
    if value is not None and hasattr(value, "tolist"):  # a tensor, which must then hold one number
        value = value.item() if value.numel() == 1 else value.tolist()
    if not isinstance(value, str | int):
        raise ValueError(f"Graph {number}: expected a text or an integer in `{name}`. Got {value!r}.")
    return str(value)
