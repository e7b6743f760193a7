"""Actions of several parts, such as reactions: tuples of structures, categories and numbers, one for each slot."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from types import MappingProxyType
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graph_bandit_env.graphs.packed_graphs import PackedGraphs
from graph_bandit_env.graphs.packed_unions import PackedUnions, joined
from graph_bandit_env.pools.graph_pool import GraphPool
from graph_bandit_env.pools.molecule_parser import canonical_smiles, smiles_problem
from graph_bandit_env.pools.molecule_sources import from_smiles
from graph_bandit_env.tables.entries import NUMBER, same_cell

NOTHING = ""
BETWEEN = " | "  # separates the parts of an action in its identifier
LONGEST = 60  # characters of an identifier, longer ones are replaced by digests
MOST = 1_000_000  # maximum number of enumerated combinations
NO_EDGES = np.zeros((0, 2), np.int32)


@dataclass(frozen=True, eq=False)
class Slot:
    """A component of each action of a set, with its B choices."""

    name: str
    """Name of the slot."""
    kind: Literal["structure", "category", "number"]
    """Type of the choices."""
    choices: tuple[str, ...] | tuple[float, ...]
    """Unique identifiers of structures, words or numbers. The empty text is the empty choice."""
    graphs: GraphPool | None = None
    """The structures of the non-empty choices, in their order. None for categories and numbers."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of choices, each with its choice."""
    prices: NDArray[np.float64] | None = None
    """`(B,)`. Non-negative price of each choice. None if prices are unknown."""

    @cached_property
    def place_of(self) -> dict[str, int]:
        """Return the index of each choice by its name, its other names and its spelling."""
        places = {text: k for k, text in enumerate(self.spelt)} | {str(name): k for k, name in enumerate(self.choices)}
        return {alias: places[name] for alias, name in self.aliases.items() if name in places} | places

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the choices as texts."""
        return tuple(self.spelt if self.kind == "number" else map(str, self.choices))

    @cached_property
    def spelt(self) -> list[str]:
        """Return each choice as text, a structure as its canonical SMILES if it has one."""
        if self.kind == "number":
            return [f"{choice:.10g}" for choice in self.choices]
        own = iter(getattr(self.graphs, "smiles", ()))
        return [next(own, str(choice)) if choice != NOTHING else NOTHING for choice in self.choices]

    def spell(self, cell: str) -> str:
        """Return a choice from a table or by name, as spelt in `spelt`.

        Raises:
            ValueError: if a SMILES cannot be read, or a choice of a numeric slot is not a number.
        """
        cell = same_cell(cell)
        if (place := self.place_of.get(cell)) is not None:
            return self.spelt[place]
        if self.kind == "number" and not NUMBER.fullmatch(cell):
            raise ValueError(f"expected a number in `{self.name}`. Got {cell!r}.")
        if self.kind != "structure" or cell == NOTHING:
            return cell
        if not (canonical := canonical_smiles(cell)):
            raise ValueError(f"`{self.name}`: {smiles_problem(cell)}")
        return canonical

    def components(self, position: int, count: int, widths: Mapping[str, int], before: int) -> PackedGraphs:
        """Return a graph for each choice: a structure, or a single node for other kinds.

        Node features are the slot as one-hot, the features of structures, and those of each other slot: a category as
        one-hot, a number in standard deviations.

        Args:
            position: index of the slot.
            count: S, the number of slots.
            widths: numbers of node features, by `structure` and `other`.
            before: number of the other features that belong to earlier slots.
        """
        width, begin = count + sum(widths.values()), count + widths["structure"] + before
        nodes, links, edges = list[NDArray[np.float32]](), list[NDArray[np.integer]](), list[NDArray[np.float32]]()
        read = iter(()) if self.graphs is None else self.graphs._packed.read(0, len(self.graphs))
        numbers = np.array(self.choices if self.kind == "number" else (), np.float64)
        scaled = (numbers - numbers.mean()) / (numbers.std() or 1.0) if numbers.size else numbers
        features = 0 if self.graphs is None else self.graphs.edge_feature_dim or 0
        for place, choice in enumerate(self.choices):
            if self.kind == "structure" and choice != NOTHING:
                own, own_links, own_edges = next(read)
            else:
                own, own_links, own_edges = np.zeros((1, 0), np.float32), NO_EDGES, None
            rows = np.zeros((len(own), width), np.float32)
            rows[:, position] = 1
            rows[:, count : count + own.shape[1]] = own
            if self.kind == "category":
                rows[:, begin + place] = 1
            elif self.kind == "number":
                rows[:, begin] = scaled[place]
            nodes.append(rows)
            links.append(own_links)
            edges.append(np.zeros((len(own_links), features), np.float32) if own_edges is None else own_edges)
        return PackedGraphs.of(nodes, links, edges if features else None)


class SlotSet(GraphPool):
    """K unique actions of S slots. As a graph, an action is the disjoint union of its parts.

    Agents with slot kernels, such as `gp-`, compare actions slot by slot. All others play the unions.

    Args:
        slots: S slots with unique names.
        places: `(K, S)`: index of the choice in each slot of each action.
        ids: K unique texts. If None, the choices of each action.
        targets: K measured values, NaN if missing. None if there are none.

    Raises:
        ValueError: if places do not fit the slots, two actions are equal, graphs are directed, or as in `GraphPool`.
    """

    slots: tuple[Slot, ...]
    """The slots."""
    places: NDArray[np.int64]
    """`(K, S)`, read-only."""
    aliases: Mapping[str, str] = MappingProxyType({})
    """Other identifiers, each with the identifier in `ids`."""

    def __init__(
        self,
        slots: Sequence[Slot],
        places: ArrayLike,
        ids: Sequence[str] | None = None,
        targets: ArrayLike | None = None,
    ) -> None:
        self.slots, self.places = tuple(slots), np.array(places, np.int64)
        sizes = [len(slot.choices) for slot in self.slots]
        if self.places.ndim != 2 or self.places.shape[1] != len(sizes) or not len(self.places):
            raise ValueError(f"Expected `places` of shape `(K, {len(sizes)})`. Got `{self.places.shape}`.")
        if (
            (self.places < 0).any()
            or (self.places >= sizes).any()
            or len({each.name for each in self.slots}) < len(sizes)
        ):
            raise ValueError("Expected slots of different names, and places among their choices. Got others.")
        if any(slot.graphs is not None and slot.graphs.directed for slot in self.slots):
            raise ValueError("Expected undirected structures in slots. Got some with directions.")
        _, firsts, counts = np.unique(self.places, axis=0, return_index=True, return_counts=True)
        names = [*map(self.name_of, self.texts)] if ids is None else ids
        if (counts > 1).any():
            raise ValueError(
                f"Expected different actions. `{names[firsts[counts.argmax()]]}` is there {counts.max()} times."
            )
        self.places.flags.writeable = False
        others = [len(s.choices) if s.kind == "category" else int(s.kind == "number") for s in self.slots]
        structures = max((s.graphs.feature_dim for s in self.slots if s.graphs is not None), default=0)
        widths = {"structure": structures, "other": sum(others)}
        before, begins = np.cumsum([0, *others]).tolist(), np.cumsum([0, *sizes[:-1]])
        parts = [slot.components(k, len(sizes), widths, before[k]) for k, slot in enumerate(self.slots)]
        self._packed = PackedUnions.of_components(joined(parts), self.places + begins)
        self._label(names, targets)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Return the choices of each of K actions as canonical JSON."""
        spelt = [slot.spelt for slot in self.slots]
        names = [slot.name for slot in self.slots]
        every = ([by[k] for by, k in zip(spelt, row, strict=True)] for row in self.places.tolist())
        return tuple(write_action(dict(zip(names, row, strict=True))) for row in every)

    def cells_of(self, text: str) -> dict[str, str]:
        """Return the choice in each slot by slot name, given the text of an action."""
        cells = json.loads(text)
        return {slot.name: cells[slot.name] for slot in self.slots}

    def spell(self, text: str) -> str:
        """Return the text of an action as in `texts`.

        Args:
            text: JSON with a text by slot name.

        Raises:
            ValueError: if a structure or number cannot be read.
        """
        cells = self.cells_of(text)
        return write_action({slot.name: slot.spell(cells[slot.name]) for slot in self.slots})

    def name_of(self, text: str) -> str:
        """Return the default identifier of an action: its parts, or a digest of them.

        Args:
            text: JSON from `spell`.
        """
        joined = BETWEEN.join(cell or "(none)" for cell in self.cells_of(text).values())
        return joined if len(joined) <= LONGEST else hashlib.sha256(text.encode()).hexdigest()[:10]

    def join(self, others: Mapping[str, str]) -> SlotSet:
        """Return these actions followed by others.

        Args:
            others: texts of actions from `spell`, by identifier.
        """
        cells = [self.cells_of(text) for text in (*self.texts, *others.values())]
        are = {slot.name: slot.kind for slot in self.slots}
        columns = {
            name: [float(each[name]) if kind == "number" else each[name] for each in cells]
            for name, kind in are.items()
        }
        structures = [name for name, kind in are.items() if kind == "structure"]
        joined = from_slots(columns, structures, [*self.ids, *others], [*self.targets, *[np.nan] * len(others)])
        joined.aliases = self.aliases
        return joined

    def parts_of(self, action: int) -> tuple[str | float, ...]:
        """Return the choice in each slot of an action.

        Args:
            action: index of the action.
        """
        return tuple(slot.choices[k] for slot, k in zip(self.slots, self.places[action].tolist(), strict=True))

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> SlotSet:
        """Return the actions with these indices, in this order, with unchanged slots."""
        taken, some = super().take(index), copy.copy(self)
        some._packed, some.places = taken._packed, self.places[np.asarray(index, np.int64)]
        some.places.flags.writeable = False
        some.__dict__.pop("texts", None)
        some._label(taken.ids, taken.targets)
        return some

    def with_nodes(self, nodes: Sequence[ArrayLike]) -> Self:
        """Raise a TypeError, since the node features come from the slots and their choices."""
        raise TypeError("Expected graphs that need node features. Actions of slots already have them.")

    def _notes(self) -> list[str]:
        slots = [f"{slot.name} ({len(slot.choices)})" for slot in self.slots]
        return [f"{len(self)} actions", f"slots {', '.join(slots)}", f"{self.known.sum()} measured"]


def from_slots(
    columns: Mapping[str, Sequence[object]],
    structures: Collection[str] = (),
    ids: Sequence[str] | None = None,
    targets: ArrayLike | None = None,
) -> SlotSet:
    """Create a set of actions from a table with a row for each action and a column for each slot.

    Args:
        columns: K cells by slot name, as a dict or DataFrame. Texts are categories. An empty cell (also None and NaN)
            among texts or SMILES is the empty choice.
        structures: names of the columns with SMILES.
        ids: as in `SlotSet`.
        targets: as in `SlotSet`.

    Raises:
        ValueError: if a SMILES cannot be read, a column of numbers has gaps, or as in `SlotSet`.
        ImportError: if RDKit is not installed, and there are structures (the extra `chem` installs it).
    """
    if missing := [name for name in structures if name not in columns]:
        raise ValueError(f"Expected columns of these names for structures. There is no `{missing[0]}`.")
    slots, places = zip(*(slot_of(name, cells, name in structures) for name, cells in columns.items()), strict=True)
    return SlotSet(slots, np.stack(places, axis=1), ids, targets)


def every_action(slots: Sequence[Slot], ids: Sequence[str] | None = None) -> SlotSet:
    """Create all combinations of the choices of some slots. The last slot varies fastest.

    Args:
        slots: the slots.
        ids: as in `SlotSet`.

    Raises:
        ValueError: if there are more than a million combinations.
    """
    sizes = [len(slot.choices) for slot in slots]
    if (count := math.prod(sizes)) > MOST:
        raise ValueError(f"Expected at most {MOST:,} combinations of choices. Got {count:,}.")
    return SlotSet(slots, np.stack(np.unravel_index(np.arange(count), sizes), axis=1), ids)


def slot_of(name: str, column: Iterable[object], is_structure: bool) -> tuple[Slot, NDArray[np.int64]]:
    """Return a slot from the cells of a column, and the choice of each cell, `(K,)`. Errors as in `from_slots`."""
    cells = [None if cell != cell else cell for cell in column]  # NaN differs from itself
    known = [cell for cell in cells if cell is not None]
    are_numbers = all(isinstance(cell, Real) and not isinstance(cell, bool) for cell in known)
    if not is_structure and known and are_numbers:
        values, place = np.unique(np.array(known, np.float64), return_inverse=True)
        if len(known) < len(cells) or not np.isfinite(values).all():
            raise ValueError(f"Expected a finite number in each cell of `{name}`. Use texts if some are empty.")
        return Slot(name, "number", tuple(values.tolist())), place.reshape(-1)
    texts = [NOTHING if cell is None else str(cell).strip() for cell in cells]
    spelt = [text if is_structure else same_cell(text) for text in texts]
    number_of = {text: k for k, text in enumerate(dict.fromkeys(spelt))}
    place, words = np.array([number_of[text] for text in spelt], np.int64), tuple(number_of)
    molecules = [word for word in words if word != NOTHING]
    if not is_structure or not molecules:
        return Slot(name, "category", words), place
    graphs = from_smiles(molecules, ids=molecules, salts="separate")
    of_word = {**graphs.aliases, **{key: key for key in graphs.ids}, NOTHING: NOTHING}
    kept = {word: k for k, word in enumerate(dict.fromkeys(of_word[word] for word in words))}
    place = np.array([kept[of_word[word]] for word in words], np.int64)[place]
    return Slot(name, "structure", tuple(kept), graphs), place


def write_action(cells: Mapping[str, str]) -> str:
    """Return the text of an action: JSON, sorted by slot name.

    Args:
        cells: choice in each slot, by slot name.
    """
    return json.dumps(cells, sort_keys=True, ensure_ascii=False)
