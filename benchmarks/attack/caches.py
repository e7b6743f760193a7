"""Damage what is kept of a table of molecules, and read the table again."""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.attempts import Attempt
from benchmarks.attack.hostile.limited import Limited
from benchmarks.attack.hostile.writers import SMILES
from graph_bandit_env import from_smiles_csv

NAME = "pool.csv"
Molecules = tuple[tuple[str, ...], list[list[Any]]]


def read_molecules(path: Path, cache: bool = True) -> Molecules:
    """Return the SMILES and all numbers of the graphs of a table; the cache folder is `cache`, next to it."""
    os.environ["GRAPH_BANDIT_CACHE"] = str(path.with_name("cache"))
    pool = from_smiles_csv(path, identifier="id", features="categories", cache=cache)
    return pool.smiles, [[np.asarray(part).tolist() for part in graph] for graph in pool]


def write_pool(path: Path, generator: np.random.Generator) -> None:
    """Write a table with other molecules than before."""
    chains = [f"{'C' * int(generator.integers(1, 12))}{text}" for text in ("O", "N", "S", "C(=O)O", "c1ccccc1")]
    rows = [f"m{k},{smiles}" for k, smiles in enumerate(dict.fromkeys((*chains, *SMILES)))]
    path.write_text("\n".join(["id,smiles", *rows]) + "\n", encoding="utf-8")


def files_of(folder: Path) -> list[Path]:
    """Return the files of the cache folder."""
    return sorted((folder / "cache").iterdir())


def table_of(cache: Path) -> Path:
    """Return the table of the only file of the cache folder."""
    return cache.parent.with_name(NAME)


# Each damage takes the only file of the cache, and random numbers.


def flip_a_bit(cache: Path, generator: np.random.Generator) -> None:
    """Flip one bit."""
    content = bytearray(cache.read_bytes())
    content[generator.integers(len(content))] ^= 1 << int(generator.integers(8))
    cache.write_bytes(content)


def cut_off(cache: Path, generator: np.random.Generator) -> None:
    """Cut the file off."""
    content = cache.read_bytes()
    cache.write_bytes(content[: generator.integers(1, len(content))])


def empty(cache: Path, generator: np.random.Generator) -> None:
    """Empty the file."""
    cache.write_bytes(b"")


def write_random_bytes(cache: Path, generator: np.random.Generator) -> None:
    """Replace all."""
    cache.write_bytes(generator.bytes(int(generator.integers(1, 5000))))


def add_bytes(cache: Path, generator: np.random.Generator) -> None:
    """Append bytes."""
    cache.write_bytes(cache.read_bytes() + generator.bytes(int(generator.integers(1, 100))))


def change_arrays(cache: Path, generator: np.random.Generator) -> None:
    """Write a valid archive with one array replaced, and with whatever follows the archive of before."""
    content = cache.read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    changes: list[Callable[[], Any]] = [
        lambda: {"canonical": _swapped(arrays["canonical"])},
        lambda: {"atom_offsets": arrays["atom_offsets"] + 1},
        lambda: {"atom_offsets": np.sort(generator.integers(-5, 99, len(arrays["atom_offsets"])))},
        lambda: {"bond_offsets": arrays["bond_offsets"][::-1]},
        lambda: {"atoms": np.roll(arrays["atoms"], 1, axis=0)},
        lambda: {"atoms": arrays["atoms"][:, :5]},
        lambda: {"atoms": arrays["atoms"].astype(float) / 3},
        lambda: {"links": arrays["links"] + 1000},
        lambda: {"links": arrays["links"][::-1]},
        lambda: {"bonds": np.zeros((0, 3), np.uint8)},
        lambda: {"bonds": np.array([{"a": 1}], object)},
        lambda: {"atoms": np.zeros((1 << 27, 9), np.uint8)} if generator.random() < 0.1 else {"links": arrays["atoms"]},
    ]
    arrays |= changes[generator.integers(len(changes))]()
    made = io.BytesIO()
    np.savez_compressed(made, **arrays)
    cache.write_bytes(made.getvalue() + content[content.rfind(b"PK\x05\x06") + 22 :])


def rename_as_before(cache: Path, generator: np.random.Generator) -> None:
    """Put caches under the names of earlier versions next to the table, as who may write there can."""
    change_arrays(cache, generator)
    for name in (f".{NAME}.npz", f".{NAME}.traits.npz", f".{NAME}.{generator.bytes(6).hex()}.npz"):
        table_of(cache).with_name(name).write_bytes(cache.read_bytes())
    cache.unlink()


def leave_a_part(cache: Path, generator: np.random.Generator) -> None:
    """Do what a writer does that is killed."""
    content, dead = cache.read_bytes(), 1 << 22
    part = cache.with_name(f"{cache.name}.{dead}.{generator.bytes(8).hex()}.part")
    part.write_bytes(content[: generator.integers(len(content))])
    cache.unlink()


def edit_the_table(cache: Path, generator: np.random.Generator) -> None:
    """Write other molecules to the table."""
    write_pool(table_of(cache), generator)


def put_a_folder_there(cache: Path, generator: np.random.Generator) -> None:
    """Replace the file by a folder."""
    cache.unlink()
    cache.mkdir()


def take_the_cache_of_another(cache: Path, generator: np.random.Generator) -> None:
    """Replace the cache by one of other molecules, and as many."""
    content, table = cache.read_bytes(), table_of(cache)
    text = table.read_bytes()
    while table.read_bytes() == text:
        write_pool(table, generator)
    read_molecules(table)
    for path in files_of(table.parent):
        path.write_bytes(content)


def _swapped(text: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    lines = text.tobytes().decode().split("\n")
    return np.frombuffer("\n".join(lines[1:] + lines[:1]).encode(), np.uint8)


DAMAGES: tuple[tuple[str, Callable[[Path, np.random.Generator], None]], ...] = (
    ("bit flipped", flip_a_bit),
    ("cut off", cut_off),
    ("bit flipped", flip_a_bit),
    ("emptied", empty),
    ("random bytes", write_random_bytes),
    ("bytes added", add_bytes),
    ("valid archive of other arrays", change_arrays),
    ("valid archive of other arrays", change_arrays),
    ("caches of earlier versions", rename_as_before),
    ("part left behind", leave_a_part),
    ("table edited", edit_the_table),
    ("folder in its place", put_a_folder_there),
    ("cache of another table", take_the_cache_of_another),
)


def attack(generator: np.random.Generator, folder: Path) -> Iterator[Attempt]:
    """Attack the caches, without end."""
    limited = Limited()
    try:
        for turn in itertools.count():
            kind, damage = DAMAGES[turn % len(DAMAGES)]
            here = folder / str(turn)
            here.mkdir()
            write_pool(here / NAME, generator)
            read_molecules(here / NAME)
            (cache,) = files_of(here)
            damage(cache, generator)
            expected = read_molecules(here / NAME, cache=False)
            yield Attempt(kind, _fault_of(here, expected, limited))
    finally:
        limited.close()


def _fault_of(folder: Path, expected: Molecules, limited: Limited) -> str:
    for time in ("", "the second time: "):
        outcome = limited.call(read_molecules, folder / NAME)
        if outcome.fault or outcome.refused:
            return time + (outcome.fault or outcome.refused[:150])
        if outcome.value != expected:
            return f"{time}other molecules"
    left = files_of(folder)
    return "" if len(left) <= 2 and not any(path.suffix == ".part" for path in left) else f"{len(left)} files left"
