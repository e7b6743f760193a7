"""Read a pool of graphs from a file, by the format in its name, or create a named pool."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, TypeGuard, cast

from graph_bandit_env.files.networkx_files import MARKUP, read_networkx_file
from graph_bandit_env.files.pyg_file import find_edges, read_pyg_file
from graph_bandit_env.graphs.graph_set import GraphSet
from graph_bandit_env.graphs.readers import list_graphs
from graph_bandit_env.pools.actions import read_actions
from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.library import Property, enumerate_library
from graph_bandit_env.pools.molecule_sources import from_smiles, from_smiles_csv
from graph_bandit_env.pools.other_sources import from_networkx, from_pyg_dataset
from graph_bandit_env.tables.opening import KINDS, is_table
from graph_bandit_env.tables.table import Table, to_text

NAME = re.compile(r"[^./\\]+")  # neither a suffix nor a separator
LIBRARY = "library"
JSON = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
READERS = {**dict.fromkeys((*JSON, *MARKUP), read_networkx_file), ".pt": read_pyg_file}
OF_ACTIONS = ("on_error", "ignore_columns", "sheet", "most_atoms")  # options of both kinds of tables
FORMS = f"{KINDS}, {', '.join(READERS)}"
DEFAULTS = {name: parameter.default for name, parameter in signature(from_smiles_csv).parameters.items()}


def is_name(source: str | Path) -> TypeGuard[str]:
    """Return True if a source is the name of a pool, a text without suffix and separator, rather than a path."""
    return isinstance(source, str) and NAME.fullmatch(source) is not None


def read_pool(
    source: str | Path,
    target: str | None = None,
    *,
    identifier: str | None = None,
    directed: bool | None = None,
    num_graphs: int = 60,
    seed: int = 0,
    slots: Sequence[str] = (),
    **options: Any,
) -> GraphPool:
    """Read a pool of graphs from a file of any supported format, or create a named pool.

    Args:
        source: path of a file or folder, or name of a pool.
            Molecules: a table, as in `from_smiles_csv`.
            networkx graphs: `.jsonl` with one graph per line from `networkx.node_link_data`, or with several, words and
            numbers by slot name. `.json` with a graph or a list of graphs. Both also `.gz`. `.graphml`, `.gexf`,
            `.gml`, or a folder of these.
            PyG graphs: `.pt` from `torch.save` of a list of `Data` or from `InMemoryDataset.save`, or the folder of a
            TU dataset. A `NotReadWarning` names attributes that are not read.
            A text without suffix and separator is a name, even if such a file exists: "library" is `enumerate_library`,
            and a name in `graph_bandit_env.pools.kinds.KINDS`, such as "bipartite", draws graphs and mean rewards.
        target: measured values: a column of a table, an attribute of networkx or PyG graphs, the index of a column of
            `y` of PyG graphs as text, or "qed", "logp" or "tpsa" of the library. If None, there are no measured values,
            except `y` of PyG graphs if present, and "qed" of the library.
        identifier: identifiers: a column or an attribute of graphs. If None, a column as in `from_smiles_csv`, the
            attribute `id` or the names of networkx graphs, and otherwise "0", "1", and so on.
        num_graphs: number of graphs to draw of a kind.
        seed: seed of these graphs.
        slots: columns of a table whose rows are actions of several parts, in addition to those of structures. The pool
            is then a `SlotSet`. `read_actions` has more options.
        directed: True keeps the directions of edges, False drops them. If None, a file of networkx graphs decides, and
            PyG graphs are undirected, with an error for missing directions. Molecules are undirected, and True is an
            error.
        options: further options of `from_smiles_csv`, such as `smiles` and `on_error`, only for tables of molecules.

    Returns:
        The pool, a `MoleculeSet` for molecules.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if a package that reads the file is not installed (extras `chem` and `parquet`).
        ValueError: if the format is unknown or does not support an option, the file is empty, damaged or has other
            content, or no graph has the target. Code in a `.pt` file is not run.
    """
    path = Path(source)
    reader = None if is_name(source) else _reader_of(path)
    given = {name: value for name, value in options.items() if value and value != DEFAULTS.get(name)}
    others = [f"`{name}`" for name in given if not slots or name not in OF_ACTIONS]
    others += ["`slots`"] * bool(slots and (reader or is_name(source)))
    if others and (slots or reader or is_name(source)):
        raise ValueError(
            f"Expected a table of molecules for {', '.join(others)}. Got {path.name}. Leave this option out."
        )
    if directed and not reader:
        raise ValueError(f"Expected graphs other than molecules, whose edges can be directed. Got {path.name}.")
    if is_name(source):
        pool = _make_named(source, target, num_graphs, seed)
        pool = pool.without_directions() if directed is False else pool
    elif reader:
        if not path.exists():
            raise FileNotFoundError(f"Expected a file of graphs. Got {path}, which is not a file.")
        pool = reader(path, target, identifier, directed)
    elif path.is_file() and not is_table(path):
        raise ValueError(f"Expected a file that ends in {FORMS}. Got {path.name}.")
    elif slots:
        pool = read_actions(path, dict(zip(slots, slots, strict=True)), target, identifier, **given).actions
    else:
        pool = from_smiles_csv(path, target=target, identifier=identifier, **options)
    if target is not None and not pool.known.any():
        raise ValueError(f"Expected measured values in `{target}` of {source}. Got none.")
    return pool


def as_pool(graphs: Any) -> GraphSet:
    """Convert graphs of any supported kind to a pool.

    Args:
        graphs: a graph set, which is returned, a path or the name of a pool, as in `read_pool`, a pandas table with a
            column of SMILES, as in `from_smiles_csv`, or a list of SMILES, RDKit molecules, PyG `Data` or networkx
            graphs.

    Raises:
        TypeError, ValueError: if `graphs` is none of these, or as in the function that reads it.
    """
    if hasattr(graphs, "to_pyg"):
        return cast("GraphSet", graphs)
    if isinstance(graphs, str | Path):
        return read_pool(graphs)
    if hasattr(graphs, "itertuples"):
        rows = enumerate(([to_text(cell) for cell in row] for row in graphs.itertuples(index=False)), start=1)
        table = Table(Path("the DataFrame"), tuple(map(str, graphs.columns)), rows, "row")
        return from_smiles_csv(table)
    library, given = list_graphs(graphs)
    if library:
        return from_pyg_dataset(given) if library == "pyg" else from_networkx(given)
    return from_smiles(given)


def is_file_of_graphs(path: Path) -> bool:
    """Return True if a file or folder contains graphs other than molecules. Tables and named pools have molecules."""
    return _reader_of(path) is not None


def _reader_of(path: Path) -> Callable[[Path, str | None, str | None, bool | None], GraphPool] | None:
    if path.is_dir():
        markup = any(part.suffix.lower() in MARKUP for part in path.iterdir())
        return read_pyg_file if find_edges(path) else read_networkx_file if markup else None
    return next((reader for end, reader in READERS.items() if path.name.lower().endswith(end)), None)


def _make_named(name: str, target: str | None, num_graphs: int, seed: int) -> GraphPool:
    if name == LIBRARY:
        return enumerate_library(cast("Property", target or "qed"))
    from graph_bandit_env.pools.kinds import KINDS, draw_kind  # imports networkx, which is not needed for files

    if name in (*KINDS, "reactions") and target is None:
        return draw_kind(name, num_graphs, seed)
    kinds = f"a kind of graphs without `target` ({', '.join(KINDS)}, reactions)"
    raise ValueError(f"Expected the name {LIBRARY}, {kinds}, or a file that ends in {FORMS}. Got `{name}`.")
