"""Read a pool of graphs from a file, by the form that its name tells, or by its own name."""

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
    """Return whether a source is the name of a pool, as a text without suffix and separator is, and not a path."""
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
    """Read a pool of graphs from a file of any form, or make one that has a name.

    Args:
        source: path of a table of molecules (as in `from_smiles_csv`); of networkx graphs (`.jsonl`: one graph a line,
            as `networkx.node_link_data` writes them, or several, words and numbers by the names of slots; `.json`: one
            graph or a list of them; both also `.gz`; `.graphml`, `.gexf`, `.gml`, or a folder of these); or of PyG
            graphs (`.pt`: a list of `Data` that `torch.save` wrote, or what `InMemoryDataset.save` wrote; a folder of
            text files, as TU datasets have). A `NotReadWarning` names attributes that are not read. A text without
            suffix and separator is the name of a pool, even where there is a file of that name: "library" is
            `enumerate_library`, and a name in `graph_bandit_env.pools.kinds.KINDS`, such as "bipartite", draws graphs
            of that kind and their mean rewards.
        target: the measured values: a column of a table; an attribute of networkx graphs; an attribute of PyG graphs
            or, written as a whole number, a column of `y`; "qed", "logp" or "tpsa" of the library. None: nothing was
            measured, except that PyG graphs take `y` if there is one, and the library "qed".
        identifier: the identifiers: a column, or an attribute of graphs. None: a column as in `from_smiles_csv`, the
            attribute `id` or the names of networkx graphs, else "0", "1", and so on.
        num_graphs: how many graphs of a kind are drawn.
        seed: by which they are drawn.
        slots: columns of a table whose rows are actions of several parts, beside those of structures. The pool is a
            `SlotSet` then; `read_actions` has more options.
        directed: True keeps the directions of edges, False drops them. None: as a file of networkx graphs says. PyG
            graphs say nothing: they are then undirected, and a missing direction is refused.
            Molecules are undirected, and refuse True.
        options: further options of `from_smiles_csv`, such as `smiles` and `on_error`, which all but tables of
            molecules refuse.

    Returns:
        The pool: a `MoleculeSet` where graphs are molecules.

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if a package that reads the file is not installed (extras `chem` and `parquet`).
        ValueError: if the form is unknown or has no such option, the file is empty or damaged or holds what is not a
            graph, or no graph has the target. Code in a `.pt` file is not run.
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
    """Make a pool of graphs as people have them at hand.

    Args:
        graphs: a graph set, which is returned; a path or the name of a pool, as in `read_pool`; a table of pandas with
            a column of SMILES, as in `from_smiles_csv`; or a list of SMILES, molecules of RDKit, PyG `Data` or networkx
            graphs.

    Raises:
        TypeError, ValueError: if it is none of these, or as the function that reads it.
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
    """Return whether a file or folder holds graphs that are not molecules: tables and named pools hold molecules."""
    return _reader_of(path) is not None


def _reader_of(path: Path) -> Callable[[Path, str | None, str | None, bool | None], GraphPool] | None:
    if path.is_dir():
        markup = any(part.suffix.lower() in MARKUP for part in path.iterdir())
        return read_pyg_file if find_edges(path) else read_networkx_file if markup else None
    return next((reader for end, reader in READERS.items() if path.name.lower().endswith(end)), None)


def _make_named(name: str, target: str | None, num_graphs: int, seed: int) -> GraphPool:
    if name == LIBRARY:
        return enumerate_library(cast("Property", target or "qed"))
    from graph_bandit_env.pools.kinds import KINDS, draw_kind  # imports networkx, which files do not need

    if name in (*KINDS, "reactions") and target is None:
        return draw_kind(name, num_graphs, seed)
    kinds = f"a kind of graphs without `target` ({', '.join(KINDS)}, reactions)"
    raise ValueError(f"Expected the name {LIBRARY}, {kinds}, or a file that ends in {FORMS}. Got `{name}`.")
