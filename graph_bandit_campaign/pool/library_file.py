"""Read a library of products or combinations from a TOML file, and the tables of its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from graph_bandit_env import from_smiles_csv
from graph_bandit_env.pools import MOST_ATOMS, Slot, from_slots
from graph_bandit_env.pools.products import Part, ProductLibrary, Reaction
from graph_bandit_env.tables import same_cell

Text = Annotated[str, msgspec.Meta(min_length=1)]
Smarts = Annotated[str, msgspec.Meta(min_length=1, max_length=5000)]  # RDKit needs gigabytes for some longer ones


class SlotEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A slot in the file."""

    name: Text
    blocks: Text | None = None
    """Table of the blocks, in the folder of the file or below."""
    choices: tuple[str | int | float, ...] = ()
    """Words or numbers, instead of a table. Allowed only without a reaction."""
    smiles: Text = "smiles"
    """Column of the SMILES."""
    id: Text | None = None
    """Column of the names. None means `id` or another usual name. Blocks without a name are named by slot and row."""
    price: Text | None = None
    """Column of the prices."""
    forbid: tuple[Smarts, ...] = ()
    """SMARTS. Blocks with one of these substructures are left out."""
    most_atoms: Annotated[int, msgspec.Meta(ge=1)] = MOST_ATOMS
    """Maximum number of atoms of a block, without hydrogens."""


class ReactionEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reaction in the file."""

    name: Text
    """Name for ids and messages."""
    smarts: Smarts
    slots: tuple[SlotEntry, ...]
    """Slots of the reactants, in order."""


class LibraryEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    reactions: tuple[ReactionEntry, ...] = ()
    slots: tuple[SlotEntry, ...] = ()
    """Slots whose choices are combined, if there are no reactions."""
    forbid: tuple[dict[Text, tuple[str | int | float, ...]], ...] = ()
    """Incompatible choices of two slots, by the names of the slots."""
    most_atoms: Annotated[int, msgspec.Meta(ge=1)] = MOST_ATOMS
    """Maximum number of atoms of a product, without hydrogens."""


def read_product_library(path: str | Path, allow_outside: bool = False) -> tuple[ProductLibrary, list[str]]:
    """Read a library of products or combinations.

    The file lists the reactions, and the table with the blocks of each slot:

        [[reactions]]
        name = "amide"
        smarts = "[#6:1]C(=O)[OH].[NH2:2][#6:3]>>[#6:1]C(=O)[N:2][#6:3]"
        slots = [{name = "acid", blocks = "acids.smi"}, {name = "amine", blocks = "amines.csv", price = "price"}]

    Or it lists only slots and their choices. No action has a forbidden pair:

        slots = [{name = "ligand", blocks = "ligands.csv"}, {name = "base", choices = ["KF", "NaH"]}, ...]
        forbid = [{base = ["NaH"], solvent = ["water", "methanol"]}]

    Args:
        path: the file.
        allow_outside: if True, tables may be outside the folder of the file.

    Returns:
        The library, and remarks for people: omitted rows with reasons, merged rows, ambiguous blocks.

    Raises:
        FileNotFoundError: if the file or a table does not exist.
        ValueError: if the file is invalid, a table is outside, cannot be read or has no block that reacts.
        MissingExtraError: if RDKit, or a package for reading a table, is not installed.
    """
    path = Path(path)
    try:
        entry = msgspec.toml.decode(path.read_bytes(), type=LibraryEntry)
    except (UnicodeDecodeError, RecursionError, msgspec.DecodeError) as error:
        raise ValueError(f"Expected {path} to describe a library of products. Got: {error}.") from error
    parts, remarks, folder = list[Part](), list[str](), path.parent.resolve()
    if bool(entry.reactions) == bool(entry.slots) or (entry.reactions and entry.forbid):
        raise ValueError(f"Expected either `reactions`, or `slots` and perhaps `forbid`, in {path}.")
    for declared in entry.reactions or [ReactionEntry("", "", entry.slots)]:
        reaction = Reaction(declared.name, declared.smarts, entry.most_atoms) if declared.smarts else None
        if reaction and len(declared.slots) != reaction.slots:
            raise ValueError(
                f"Expected {reaction.slots} slots for reaction `{declared.name}` in {path}. Got {len(declared.slots)}."
            )
        slots = list[Slot]()
        for number, slot in enumerate(declared.slots):
            if (slot.blocks is None) != bool(slot.choices) or (reaction and slot.choices):
                wanted = "blocks" if reaction else "either blocks or choices"
                raise ValueError(f"Expected {wanted} in slot `{slot.name}` of {path}.")
            if slot.blocks is None:
                slots += from_slots({slot.name: slot.choices}).slots
                continue
            table = (folder / slot.blocks).resolve()
            if not allow_outside and not table.is_relative_to(folder):
                raise ValueError(
                    f"Expected tables of blocks in the folder of {path} or below. Got {slot.blocks!r:.80}. If you "
                    "trust the file, allow tables outside."
                )
            read, notes = _read_slot(slot, table, reaction, number)
            slots.append(read)
            of = f" of `{declared.name}`" * bool(reaction)
            remarks += [f"slot `{slot.name}`{of}: {note}" for note in notes]
        parts.append(Part(reaction=reaction, slots=tuple(slots), banned=_read_forbidden(entry, slots, path)))
    return ProductLibrary(parts), remarks


def _read_forbidden(entry: LibraryEntry, slots: Sequence[Slot], path: Path) -> dict[tuple[int, ...], NDArray[np.bool_]]:
    """Return masks of the forbidden pairs of choices, by the numbers of their slots."""
    banned, number_of = dict[tuple[int, ...], NDArray[np.bool_]](), {slot.name: k for k, slot in enumerate(slots)}
    for pair in entry.forbid:
        if len(pair) != 2 or not pair.keys() <= number_of.keys():
            raise ValueError(f"Expected two slots in each entry of `forbid` in {path}. Got {', '.join(pair)}.")
        first, second = sorted(number_of[name] for name in pair)
        places = list[list[int]]()
        for slot in (slots[first], slots[second]):
            names = [same_cell(str(name)) for name in pair[slot.name]]
            if strange := [name for name in names if name not in slot.place_of]:
                raise ValueError(f"Expected choices of slot `{slot.name}` in `forbid` of {path}. Got `{strange[0]}`.")
            places.append([slot.place_of[name] for name in names])
        shape = (len(slots[first].choices), len(slots[second].choices))
        banned.setdefault((first, second), np.zeros(shape, np.bool_))[np.ix_(*places)] = True
    return banned


def _read_slot(entry: SlotEntry, path: Path, reaction: Reaction | None, number: int) -> tuple[Slot, list[str]]:
    """Return a slot with the blocks that can react in it, and remarks about omitted blocks."""
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
    sites = np.array([reaction.count_sites(number, block) if reaction else 1 for block in blocks], np.int64)
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
        notes.append(f"{several:,} blocks can react at several places, so their products may be ambiguous")
    notes += read.remarks
    kept = np.flatnonzero(good).tolist()
    if not kept:
        fit = "react in" if reaction else "may stand in"
        text = f"Expected blocks in {path} that {fit} slot `{entry.name}`. Got {len(read)} that do not."
        hint = " Hydrogens are implicit in the blocks: write `[NH2:1]` in the SMARTS, not `[NH2:1][H]`."
        raise ValueError(text + hint * bool(reaction and reaction.wants_hydrogens(number)))
    names = tuple(f"{entry.name}{k + 1}" if read.ids[k] == read.smiles[k] else read.ids[k] for k in kept)
    of_blocks = prices[kept] if entry.price else None
    return Slot(entry.name, "structure", names, read.take(kept), read.aliases, of_blocks), notes
