"""A library without enumeration: products of building blocks, or combinations of the choices of slots."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.checks import check_names
from graph_bandit_env.extras import require
from graph_bandit_env.pools.actions.slots import BETWEEN, Slot
from graph_bandit_env.pools.library import SCAFFOLDS, SUBSTITUENTS, Property, compute_property
from graph_bandit_env.pools.molecule_sources import from_smiles
from graph_bandit_env.pools.products.reaction import NoProductError, Reaction

if TYPE_CHECKING:
    from rdkit.Chem import Mol


KEPT = 100_000  # products, and blocks, to cache in memory
NONE = "(none)"  # in ids, for an empty choice
PLUS, COLON = "+", ":"  # between the names of blocks in an id, and after the name of a reaction


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """A reaction of a library with a slot for each reactant, or only slots, whose choices are combined."""

    reaction: Reaction | None = None
    slots: tuple[Slot, ...]
    banned: Mapping[tuple[int, ...], NDArray[np.bool_]] = field(default_factory=dict)
    """Masks of excluded blocks of a slot, `(B,)` by `(s,)`, and of excluded pairs of blocks, `(B, C)` by `(s, t)`."""

    def __post_init__(self) -> None:
        check_names(f"slots of {self.name or 'the library'}", [slot.name for slot in self.slots])
        marks = (PLUS, COLON) if self.reaction else (BETWEEN,)
        for slot in self.slots:
            check_names(f"names of blocks in slot {slot.name}", [name or NONE for name in slot.names])
            wrong = [name for name in slot.names if any(mark in name for mark in marks)]
            if wrong:
                raise ValueError(
                    f"Expected names of blocks without `{'` and `'.join(marks)}`, which stand between them in ids. "
                    f"Slot `{slot.name}` has `{wrong[0]}`."
                )

    @property
    def name(self) -> str:
        """Return the name of the reaction, or an empty text if there is none."""
        return self.reaction.name if self.reaction else ""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of blocks of each slot."""
        return tuple(len(slot.choices) for slot in self.slots)

    @cached_property
    def free(self) -> list[NDArray[np.int64]]:
        """Return the indices of the blocks of each slot that are not banned alone."""
        banned = [self.banned.get((k,), np.zeros(size, np.bool_)) for k, size in enumerate(self.sizes)]
        return [np.flatnonzero(~each) for each in banned]

    def allows(self, blocks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the mask of products without banned parts, `(n,)`, given their blocks, `(n, slots)`."""
        allowed = np.ones(len(blocks), np.bool_)
        for term, mask in self.banned.items():
            allowed &= ~mask[tuple(blocks[:, term].T)]
        return allowed


class Product(NamedTuple):
    """A generated product."""

    id: str
    """Name of the reaction if the library has several, and names of the blocks: `amide:A12+B7`."""
    smiles: str
    """Canonical SMILES, or an empty text if there is no such molecule."""
    problem: str = ""
    """Reason for a missing molecule."""


class ProductLibrary:
    """All products of some reactions, or all combinations of the choices of slots.

    Products are numbered from 0, reaction by reaction, with the last slot fastest. Banned ones are also counted.

    Args:
        parts: at least one reaction with its slots. Names of reactions are unique.

    Raises:
        ValueError: if there is no reaction, two reactions have the same name, or the number of products exceeds 64-bit
            integers.
    """

    parts: tuple[Part, ...]

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        names = check_names("names of reactions", [part.name for part in parts if part.reaction])
        if not parts or any(COLON in name for name in names):
            raise ValueError(f"Expected reactions of names without `{COLON}`. Got {', '.join(names) or 'none'}.")
        counts = [int(np.prod(part.sizes, dtype=object)) for part in parts]
        if sum(counts) > np.iinfo(np.int64).max:
            raise ValueError(f"Expected at most 2^63 products. Got {sum(counts):.1e}.")
        self._starts: list[int] = [0, *np.cumsum(counts).tolist()]
        self._product = lru_cache(KEPT)(self._make)

    def __len__(self) -> int:
        return self._starts[-1]

    @cached_property
    def digest(self) -> str:
        """Return a digest of reactions, blocks and prices. Equal digests imply equal products for equal numbers."""
        content = []
        for part in self.parts:
            reaction, banned = part.reaction, [[*key, mask.tolist()] for key, mask in sorted(part.banned.items())]
            content.append([reaction.name, reaction.smarts, reaction.most_atoms] if reaction else banned)
            for slot in part.slots:
                prices = None if slot.prices is None else slot.prices.tolist()
                content.append([slot.name, slot.names, slot.spelt, prices])
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]

    def blocks_of(self, numbers: Sequence[int] | NDArray[np.int64], part: int = 0) -> NDArray[np.int64]:
        """Return the blocks of products of one reaction, `(n, slots)`, as an index in each slot.

        Args:
            numbers: numbers of products.
            part: number of the reaction.

        Raises:
            ValueError: if one is a product of another reaction.
        """
        local = np.asarray(numbers, np.int64) - self._starts[part]
        return np.stack(np.unravel_index(local, self.parts[part].sizes), axis=-1)

    def numbers_of(self, blocks: NDArray[np.int64], part: int = 0) -> NDArray[np.int64]:
        """Return the numbers of products, given their blocks, `(n, slots)`. This is the inverse of `blocks_of`."""
        local = np.ravel_multi_index(tuple(blocks.T), self.parts[part].sizes)
        return np.asarray(local + self._starts[part], np.int64)

    def part_of(self, numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the reaction of each product, `(n,)`."""
        ends = np.array(self._starts[1:], np.int64)
        return np.asarray(np.searchsorted(ends, np.asarray(numbers, np.int64), side="right"), np.int64)

    def id_of(self, number: int) -> str:
        """Return the id of a product."""
        part = int(self.part_of([number])[0])
        slots, blocks = self.parts[part].slots, self.blocks_of([number], part)[0]
        names = [slot.names[k] or NONE for slot, k in zip(slots, blocks, strict=True)]
        head = f"{self.parts[part].name}{COLON}" if len(self.parts) > 1 else ""
        return head + (PLUS if self.parts[part].reaction else BETWEEN).join(names)

    def number_of(self, identifier: str) -> int | None:
        """Return the number of the product with an id, or None if there is no such product."""
        for number, part in enumerate(self.parts):
            head = f"{part.name}{COLON}" if len(self.parts) > 1 else ""
            names = identifier.removeprefix(head).split(PLUS if part.reaction else BETWEEN)
            if identifier.startswith(head) and len(names) == len(part.slots):
                known = zip(part.slots, names, strict=True)
                places = [slot.place_of.get("" if name == NONE else name) for slot, name in known]
                if None not in places:
                    return int(self.numbers_of(np.array([places], np.int64), number)[0])
        return None

    def prices_of(self, numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the price of each product, `(n,)`: the sum over its blocks, or NaN if a price is unknown.

        For combinations, only slots with prices are included.
        """
        prices = np.full(len(numbers), np.nan)
        for number, part in enumerate(self.parts):
            own = np.flatnonzero(self.part_of(numbers) == number)
            blocks = self.blocks_of(np.asarray(numbers, np.int64)[own], number)
            slot_prices = [slot.prices for slot in part.slots if slot.prices is not None]
            if slot_prices and (part.reaction is None or len(slot_prices) == len(part.slots)):
                prices[own] = sum(of_slot[blocks[:, k]] for k, of_slot in enumerate(slot_prices))
        return prices

    def make(self, numbers: Iterable[int]) -> list[Product]:
        """Generate products, with a cache of the last 100,000. A failed product has a reason instead of SMILES.

        Args:
            numbers: numbers of products.
        """
        return [self._product(int(number)) for number in numbers]

    def draw(self, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw unique product numbers at random, `(count,)`, or fewer if the library is smaller.

        The products have no blocks that are banned alone, but may have banned pairs.
        """
        sizes = [[len(free) for free in part.free] for part in self.parts]
        counts = [math.prod(each) for each in sizes]
        most, ends = sum(counts), np.cumsum(counts)
        local = generator.permutation(most) if count >= most else np.zeros(0, np.int64)
        if count < most:
            drawn = dict.fromkeys(generator.integers(most, size=count).tolist())
            while len(drawn) < count:
                drawn[int(generator.integers(most))] = None
            local = np.array([*drawn], np.int64)
        parts, numbers = np.searchsorted(ends, local, side="right"), np.zeros(len(local), np.int64)
        for number, part in enumerate(self.parts):
            own = parts == number
            places = np.unravel_index(local[own] - (ends[number] - counts[number]), sizes[number])
            blocks = [free[place] for free, place in zip(part.free, places, strict=True)]
            numbers[own] = self.numbers_of(np.stack(blocks, axis=1), number)
        return numbers

    def _make(self, number: int) -> Product:
        part = int(self.part_of([number])[0])
        blocks, reaction = self.blocks_of([number], part)[0].tolist(), self.parts[part].reaction
        if reaction is None:
            return Product(self.id_of(number), "", "combinations are no molecules.")
        try:
            own = zip(self.parts[part].slots, blocks, strict=True)
            product = reaction.product([_read_block(slot.spelt[k]) for slot, k in own])
        except NoProductError as error:
            return Product(self.id_of(number), "", str(error))
        return Product(self.id_of(number), product)


@lru_cache(KEPT)
def _read_block(smiles: str) -> Mol:
    from rdkit import Chem

    return Chem.MolFromSmiles(smiles)


AMIDE = "[#6:1]C(=O)[OH].[NH2:2][CX4:3]>>[#6:1]C(=O)[N:2][C:3]"
GROUPS = {"acid": "C(=O)O", "amine": "CN"}
REACTING = ("C(=O)O", "CCN", "C(=O)N", "CC(=O)N")  # substituents that react, or match the reacting groups


def example_library() -> ProductLibrary:
    """Return a fixed library of the amides of about 190 acids and as many amines, with invented prices.

    Raises:
        MissingExtraError: if RDKit is not installed (the extra `chem` installs it).
    """
    require("rdkit", "The library of products")
    from rdkit import Chem

    ends = [end for end in SUBSTITUENTS if end not in REACTING]
    reaction, generator, slots = Reaction("amide", AMIDE), np.random.default_rng(0), []
    for number, (name, group) in enumerate(GROUPS.items()):
        made = [Chem.MolFromSmiles(scaffold.format(group, end)) for scaffold in SCAFFOLDS for end in ends]
        able = (block for block in made if reaction.count_sites(number, block) == 1)
        smiles = tuple(dict.fromkeys(map(Chem.MolToSmiles, able)))
        ids = tuple(f"{name}{k:03d}" for k in range(len(smiles)))
        prices = generator.lognormal(3, 0.5, len(ids)).round(1)
        slots.append(Slot(name, "structure", ids, from_smiles(smiles, ids=ids), prices=prices))
    return ProductLibrary([Part(reaction=reaction, slots=tuple(slots))])


def example_values(reward: Property, products: Sequence[Product]) -> list[float]:
    """Compute the property that replaces a measurement, for each of some generated products.

    Args:
        reward: as for `enumerate_library`.
        products: the generated products.
    """
    return compute_property(reward, [product.smiles for product in products])
