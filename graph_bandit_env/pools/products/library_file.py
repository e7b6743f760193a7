"""Read a library of products from a TOML file, and the tables of building blocks that it names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from graph_bandit_env.pools.molecule_parser import MOST_ATOMS
from graph_bandit_env.pools.molecule_sources import from_smiles_csv
from graph_bandit_env.pools.products.library import Part, ProductLibrary, Slot
from graph_bandit_env.pools.products.reaction import Reaction

Text = Annotated[str, msgspec.Meta(min_length=1)]
Smarts = Annotated[str, msgspec.Meta(min_length=1, max_length=5000)]  # RDKit takes gigabytes for some long ones


class SlotEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A slot, as the file describes it."""

    name: Text
    blocks: Text
    """Table of the blocks, in the folder of the file or below."""
    smiles: Text = "smiles"
    """Column of the SMILES."""
    id: Text | None = None
    """Column of the names; None: `id` or one of another usual name. Others are named by the slot and their row."""
    price: Text | None = None
    """Column of the prices."""
    forbid: tuple[Smarts, ...] = ()
    """SMARTS; blocks with one of these substructures are left out."""
    most_atoms: Annotated[int, msgspec.Meta(ge=1)] = MOST_ATOMS
    """How many atoms a block may have, without hydrogens."""


class ReactionEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reaction, as the file describes it."""

    name: Text
    """Stands in ids and messages."""
    smarts: Smarts
    slots: tuple[SlotEntry, ...]
    """One for each reactant, in their order."""


class LibraryEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    reactions: Annotated[tuple[ReactionEntry, ...], msgspec.Meta(min_length=1)]
    most_atoms: Annotated[int, msgspec.Meta(ge=1)] = MOST_ATOMS
    """How many atoms a product may have, without hydrogens."""


def read_product_library(path: str | Path, allow_outside: bool = False) -> tuple[ProductLibrary, list[str]]:
    """Read a library of products.

    The file says which reactions there are, and which table has the blocks of each slot:

        [[reactions]]
        name = "amide"
        smarts = "[#6:1]C(=O)[OH].[NH2:2][#6:3]>>[#6:1]C(=O)[N:2][#6:3]"
        slots = [{name = "acid", blocks = "acids.smi"}, {name = "amine", blocks = "amines.csv", price = "price"}]

    Args:
        path: the file.
        allow_outside: whether tables may lie elsewhere than in the folder of the file or below.

    Returns:
        The library, and remarks for people: rows that were left out and why, merged rows, ambiguous blocks.

    Raises:
        FileNotFoundError: if the file or a table does not exist.
        ValueError: if the file is not such a file, a table lies outside, cannot be read or has no block that reacts.
        MissingExtraError: if RDKit, or a package that reads a table, is not installed.
    """
    path = Path(path)
    try:
        entry = msgspec.toml.decode(path.read_bytes(), type=LibraryEntry)
    except (UnicodeDecodeError, RecursionError, msgspec.DecodeError) as error:
        raise ValueError(f"Expected {path} to describe a library of products. Got: {error}.") from error
    parts, remarks, folder = [], list[str](), path.parent.resolve()
    for declared in entry.reactions:
        reaction = Reaction(declared.name, declared.smarts, entry.most_atoms)
        if len(declared.slots) != reaction.slots:
            raise ValueError(
                f"Expected {reaction.slots} slots for reaction `{declared.name}` in {path}. Got {len(declared.slots)}."
            )
        slots = []
        for number, slot in enumerate(declared.slots):
            table = (folder / slot.blocks).resolve()
            if not allow_outside and not table.is_relative_to(folder):
                raise ValueError(
                    f"Expected tables of blocks in the folder of {path} or below. Got {slot.blocks!r:.80}. If you "
                    "trust the file, allow tables outside."
                )
            read, notes = _read_slot(slot, table, reaction, number)
            slots.append(read)
            remarks += [f"slot `{slot.name}` of `{declared.name}`: {note}" for note in notes]
        parts.append(Part(reaction=reaction, slots=tuple(slots)))
    return ProductLibrary(parts), remarks


def _read_slot(entry: SlotEntry, path: Path, reaction: Reaction, number: int) -> tuple[Slot, list[str]]:
    """Return a slot with the blocks that can react in it, and remarks on the others."""
    from rdkit import Chem, rdBase

    read = from_smiles_csv(
        path,
        entry.smiles,
        identifier=entry.id,
        on_error="skip",
        most_atoms=entry.most_atoms,
        columns=[entry.price] if entry.price else [],
        salts="separate",
    )
    with rdBase.BlockLogs():
        patterns = [Chem.MolFromSmarts(text) for text in entry.forbid]
        if None in patterns:
            raise ValueError(f"Expected SMARTS in `forbid` of slot `{entry.name}`. Got {entry.forbid!r:.80}.")
        blocks = [Chem.MolFromSmiles(text) for text in read.smiles]
    sites = np.array([reaction.count_sites(number, block) for block in blocks], np.int64)
    prices = read.columns[:, 0] if entry.price else np.zeros(len(read))
    left_out = {
        "have a forbidden substructure": np.array([any(map(block.HasSubstructMatch, patterns)) for block in blocks]),
        "cannot react there": sites == 0,
        "have no price of at least 0": ~(prices >= 0),
    }
    notes, good = [f"{read.merged:,} rows of equal blocks merged"] * bool(read.merged), np.ones(len(read), np.bool_)
    if read.skipped:
        notes.insert(0, f"{len(read.skipped):,} bad rows left out, the first because {read.skipped[0][1]}")
    for text, bad in left_out.items():
        if count := (good & bad).sum():
            notes.append(f"{count:,} blocks left out, which {text}")
        good &= ~bad
    if several := ((sites > 1) & good).sum():
        notes.append(f"{several:,} blocks can react at several places; their products may be ambiguous")
    notes += read.remarks
    kept = np.flatnonzero(good).tolist()
    if not kept:
        text = f"Expected blocks in {path} that react in slot `{entry.name}`. Got {len(read)} that do not."
        hint = " Hydrogens are implicit in the blocks: write `[NH2:1]` in the SMARTS, not `[NH2:1][H]`."
        raise ValueError(text + hint * reaction.wants_hydrogens(number))
    return Slot(
        name=entry.name,
        ids=tuple(f"{entry.name}{k + 1}" if read.ids[k] == read.smiles[k] else read.ids[k] for k in kept),
        smiles=tuple(read.smiles[k] for k in kept),
        aliases=read.aliases,
        prices=prices[kept] if entry.price else None,
    ), notes
