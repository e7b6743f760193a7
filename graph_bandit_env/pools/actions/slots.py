"""Actions of several parts, such as reactions: tuples of structures, categories and numbers, each in its slot."""

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
BETWEEN = " | "  # the parts of an action in its identifier
LONGEST = 60  # characters of an identifier; longer ones are digests, the same in every table
MOST = 1_000_000  # combinations that are listed
NO_EDGES = np.zeros((0, 2), np.int32)


@dataclass(frozen=True, eq=False)
class Slot:
    """A place in each action of a set, and the B things of which one stands there."""

    name: str
    """Its name."""
    kind: Literal["structure", "category", "number"]
    """What stands there."""
    choices: tuple[str, ...] | tuple[float, ...]
    """Identifiers of structures, words or numbers, all different. An empty text is a choice of its own: nothing."""
    graphs: GraphPool | None = None
    """The structures, one for each choice that is not empty, in their order; None: others are no structures."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Further names of choices, each with the one that it stands for."""
    prices: NDArray[np.float64] | None = None
    """`(B,)`. Price of each choice, not below 0; None: prices are not known."""

    @cached_property
    def place_of(self) -> dict[str, int]:
        """Return the place of each choice by what it is called: its name, further names, and how it is spelt."""
        places = {text: k for k, text in enumerate(self.spelt)} | {str(name): k for k, name in enumerate(self.choices)}
        return {alias: places[name] for alias, name in self.aliases.items() if name in places} | places

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the choices as texts."""
        return tuple(self.spelt if self.kind == "number" else map(str, self.choices))

    @cached_property
    def spelt(self) -> list[str]:
        """Return each choice as a text: a structure as its canonical SMILES, if it has one."""
        if self.kind == "number":
            return [f"{choice:.10g}" for choice in self.choices]
        own = iter(getattr(self.graphs, "smiles", ()))
        return [next(own, str(choice)) if choice != NOTHING else NOTHING for choice in self.choices]

    def spell(self, cell: str) -> str:
        """Return a choice of a table, or one that is given by its name, as `spelt` has it.

        Raises:
            ValueError: if it is a SMILES that cannot be read, or no number where the others are numbers.
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
        """Return a graph for each choice: a structure, or one node for anything else.

        Nodes have the slot, one-hot, then features of structures, then those of each other slot: a category one-hot, a
        number in standard deviations.

        Args:
            position: which slot it is.
            count: S, how many there are.
            widths: numbers of features of nodes, by `structure` and `other`.
            before: how many of the other features belong to earlier slots.
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
    """K different actions of S slots. As a graph, an action is the disjoint union of its parts.

    Agents that know slots, as `gp-` does, compare actions slot by slot; all others play the unions.

    Args:
        slots: S slots of different names.
        places: `(K, S)`: which choice stands in each slot of each action.
        ids: K different texts; None: the choices of each action.
        targets: K numbers, NaN where there is no measured value; None: nothing was measured.

    Raises:
        ValueError: if places do not fit the slots, two actions are equal, graphs have directions; or as in `GraphPool`.
    """

    slots: tuple[Slot, ...]
    """The slots."""
    places: NDArray[np.int64]
    """`(K, S)`, read-only."""
    aliases: Mapping[str, str] = MappingProxyType({})
    """Further identifiers, each with the one that it stands for."""

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
        """Return what stands in the slots of each action, as JSON: the same text for the same things, K of them."""
        spelt = [slot.spelt for slot in self.slots]
        names = [slot.name for slot in self.slots]
        every = ([by[k] for by, k in zip(spelt, row, strict=True)] for row in self.places.tolist())
        return tuple(write_action(dict(zip(names, row, strict=True))) for row in every)

    def cells_of(self, text: str) -> dict[str, str]:
        """Return what stands in each slot, by the name of the slot, given the text of an action."""
        cells = json.loads(text)
        return {slot.name: cells[slot.name] for slot in self.slots}

    def spell(self, text: str) -> str:
        """Return the text of an action as `texts` would have it.

        Args:
            text: JSON, a text by the name of each slot.

        Raises:
            ValueError: if a structure cannot be read, or a number is none.
        """
        cells = self.cells_of(text)
        return write_action({slot.name: slot.spell(cells[slot.name]) for slot in self.slots})

    def name_of(self, text: str) -> str:
        """Return the identifier that an action has if nobody gave it another one: its parts, or a digest of them.

        Args:
            text: JSON, as `spell` returns it.
        """
        joined = BETWEEN.join(cell or "(none)" for cell in self.cells_of(text).values())
        return joined if len(joined) <= LONGEST else hashlib.sha256(text.encode()).hexdigest()[:10]

    def join(self, others: Mapping[str, str]) -> SlotSet:
        """Return these actions, then others.

        Args:
            others: texts of actions as `spell` returns them, by their identifiers.
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
        """Return what stands in each slot of an action.

        Args:
            action: its index.
        """
        return tuple(slot.choices[k] for slot, k in zip(self.slots, self.places[action].tolist(), strict=True))

    def take(self, index: Sequence[int] | NDArray[np.integer]) -> SlotSet:
        """Return the actions with these indices, in this order, with the same choices in their slots."""
        taken, some = super().take(index), copy.copy(self)
        some._packed, some.places = taken._packed, self.places[np.asarray(index, np.int64)]
        some.places.flags.writeable = False
        some.__dict__.pop("texts", None)
        some._label(taken.ids, taken.targets)
        return some

    def with_nodes(self, nodes: Sequence[ArrayLike]) -> Self:
        """Raise a TypeError: the features of nodes are those of slots and their choices."""
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
    """Make a set of actions of a table: a row is an action, and a column is a slot.

    Args:
        columns: K cells by the name of the slot, as a dict or a DataFrame. Numbers are numbers, and texts categories.
            An empty cell (also None and NaN) among texts or SMILES is a choice of its own: nothing stands there.
        structures: names of the columns of SMILES.
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
    """Make all combinations of the choices of some slots, the last slot fastest.

    Args:
        slots: the slots.
        ids: as in `SlotSet`.

    Raises:
        ValueError: if there are more than a million.
    """
    sizes = [len(slot.choices) for slot in slots]
    if (count := math.prod(sizes)) > MOST:
        raise ValueError(f"Expected at most {MOST:,} combinations of choices. Got {count:,}.")
    return SlotSet(slots, np.stack(np.unravel_index(np.arange(count), sizes), axis=1), ids)


def slot_of(name: str, column: Iterable[object], is_structure: bool) -> tuple[Slot, NDArray[np.int64]]:
    """Return a slot of the cells of a column, and which choice each cell is, `(K,)`; errors as of `from_slots`."""
    cells = [None if cell != cell else cell for cell in column]  # NaN is not itself
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
    """Return the text of an action: JSON, in the order of the names of slots.

    Args:
        cells: what stands in each slot, by its name.
    """
    return json.dumps(cells, sort_keys=True, ensure_ascii=False)
