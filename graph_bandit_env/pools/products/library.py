"""A library of products that nobody enumerates: reactions, and the building blocks of each slot."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graph_bandit_env.checks import check_names
from graph_bandit_env.extras import require
from graph_bandit_env.pools.library import SCAFFOLDS, SUBSTITUENTS, Property, compute_property
from graph_bandit_env.pools.products.reaction import NoProductError, Reaction

if TYPE_CHECKING:
    from rdkit.Chem import Mol


KEPT = 100_000  # products, and blocks, that are held in memory
PLUS, COLON = "+", ":"  # between the names of blocks in an id, and after the name of a reaction


@dataclass(frozen=True, eq=False, kw_only=True)
class Slot:
    """The building blocks that can take one place in a reaction."""

    name: str
    ids: tuple[str, ...]
    """Name of each block, all different."""
    smiles: tuple[str, ...]
    """Canonical SMILES of each block."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Further names of blocks, each with the name in `ids` that it stands for."""
    prices: NDArray[np.float64] | None = None
    """Price of each block, not below 0; None: prices are not known."""

    def __len__(self) -> int:
        return len(self.ids)

    def __post_init__(self) -> None:
        check_names(f"names of blocks in slot {self.name}", self.ids)
        strange = next((name for name in self.ids if not name or set(name) & {PLUS, COLON}), None)
        if strange is not None:
            raise ValueError(
                f"Expected names of blocks without `{PLUS}` and `{COLON}`, which stand between them in the ids of "
                f"products. Slot `{self.name}` has `{strange}`."
            )


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """One reaction of a library, with a slot for each of its reactants."""

    reaction: Reaction
    slots: tuple[Slot, ...]

    def __post_init__(self) -> None:
        check_names(f"slots of reaction {self.reaction.name}", [slot.name for slot in self.slots])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of blocks of each slot."""
        return tuple(map(len, self.slots))


class Product(NamedTuple):
    """A product that was asked for."""

    id: str
    """Name of the reaction, if the library has several, and of its blocks: `amide:A12+B7`."""
    smiles: str
    """Canonical SMILES; an empty text if there is no such molecule."""
    problem: str = ""
    """Says why there is none."""


class ProductLibrary:
    """All products of some reactions. Products are numbered from 0, reaction by reaction, the last slot fastest.

    Args:
        parts: reactions and their slots, one at least; names of reactions are different.

    Raises:
        ValueError: if there is no reaction, two reactions have one name, or there are more
            products than a 64-bit integer counts.
    """

    parts: tuple[Part, ...]

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        names = check_names("names of reactions", [part.reaction.name for part in parts])
        if not names or any(COLON in name for name in names):
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
        """Return a digest of reactions, blocks and prices: equal libraries have equal products of equal numbers."""
        content = []
        for part in self.parts:
            reaction = part.reaction
            content.append([reaction.name, reaction.smarts, reaction.most_atoms])
            for slot in part.slots:
                prices = None if slot.prices is None else slot.prices.tolist()
                content.append([slot.name, slot.ids, slot.smiles, prices])
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]

    def blocks_of(self, numbers: Sequence[int] | NDArray[np.int64], part: int = 0) -> NDArray[np.int64]:
        """Return the blocks of products of one reaction, `(n, slots)`: a place in each slot.

        Args:
            numbers: numbers of products.
            part: number of the reaction.

        Raises:
            ValueError: if one is a product of another reaction.
        """
        local = np.asarray(numbers, np.int64) - self._starts[part]
        return np.stack(np.unravel_index(local, self.parts[part].sizes), axis=-1)

    def numbers_of(self, blocks: NDArray[np.int64], part: int = 0) -> NDArray[np.int64]:
        """Return the numbers of products, given their blocks, `(n, slots)`; the inverse of `blocks_of`."""
        local = np.ravel_multi_index(tuple(blocks.T), self.parts[part].sizes)
        return np.asarray(local + self._starts[part], np.int64)

    def part_of(self, numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the reaction of each product, `(n,)`."""
        ends = np.array(self._starts[1:], np.int64)
        return np.asarray(np.searchsorted(ends, np.asarray(numbers, np.int64), side="right"), np.int64)

    def id_of(self, number: int) -> str:
        """Return the id of a product."""
        part = int(self.part_of([number])[0])
        names = (slot.ids[k] for slot, k in zip(self.parts[part].slots, self.blocks_of([number], part)[0], strict=True))
        head = f"{self.parts[part].reaction.name}{COLON}" if len(self.parts) > 1 else ""
        return head + PLUS.join(names)

    def number_of(self, identifier: str) -> int | None:
        """Return the number of the product with an id; None if there is no such product."""
        head, _, tail = identifier.rpartition(COLON)
        names = tail.split(PLUS)
        for number, part in enumerate(self.parts):
            if head == (part.reaction.name if len(self.parts) > 1 else "") and len(names) == len(part.slots):
                places = [places.get(name) for places, name in zip(self._places[number], names, strict=True)]
                if None not in places:
                    return int(self.numbers_of(np.array([places], np.int64), number)[0])
        return None

    def prices_of(self, numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the price of each product, `(n,)`: the sum over its blocks; NaN where one is not known."""
        prices = np.full(len(numbers), np.nan)
        for number, part in enumerate(self.parts):
            own = np.flatnonzero(self.part_of(numbers) == number)
            blocks = self.blocks_of(np.asarray(numbers, np.int64)[own], number)
            slot_prices = [slot.prices for slot in part.slots if slot.prices is not None]
            if len(slot_prices) == len(part.slots):
                prices[own] = sum(of_slot[blocks[:, k]] for k, of_slot in enumerate(slot_prices))
        return prices

    def make(self, numbers: Iterable[int]) -> list[Product]:
        """Make products; the last 100,000 are kept. One that cannot be made has no SMILES, and says why.

        Args:
            numbers: numbers of products.
        """
        return [self._product(int(number)) for number in numbers]

    def draw(self, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return different numbers of products, drawn at random, `(count,)`; fewer if there are not so many."""
        if count >= len(self):
            return generator.permutation(len(self))
        drawn = dict.fromkeys(generator.integers(len(self), size=count).tolist())
        while len(drawn) < count:
            drawn[int(generator.integers(len(self)))] = None
        return np.array([*drawn], np.int64)

    @cached_property
    def _places(self) -> list[list[dict[str, int]]]:
        """Return the place of each block by its name, further names included, for each slot of each reaction."""
        return [[_places_in(slot) for slot in part.slots] for part in self.parts]

    def _make(self, number: int) -> Product:
        part = int(self.part_of([number])[0])
        blocks = zip(self.parts[part].slots, self.blocks_of([number], part)[0].tolist(), strict=True)
        try:
            product = self.parts[part].reaction.product([_read_block(slot.smiles[k]) for slot, k in blocks])
        except NoProductError as error:
            return Product(self.id_of(number), "", str(error))
        return Product(self.id_of(number), product)


@lru_cache(KEPT)
def _read_block(smiles: str) -> Mol:
    from rdkit import Chem

    return Chem.MolFromSmiles(smiles)


def _places_in(slot: Slot) -> dict[str, int]:
    places = {name: index for index, name in enumerate(slot.ids)}
    return {alias: places[name] for alias, name in slot.aliases.items() if name in places} | places


AMIDE = "[#6:1]C(=O)[OH].[NH2:2][CX4:3]>>[#6:1]C(=O)[N:2][C:3]"
GROUPS = {"acid": "C(=O)O", "amine": "CN"}
REACTING = ("C(=O)O", "CCN", "C(=O)N", "CC(=O)N")  # substituents that react themselves, or look as if they did


def example_library() -> ProductLibrary:
    """Return the amides of some 190 acids and as many amines, with invented prices; always the same ones.

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
        slots.append(Slot(name=name, ids=ids, smiles=smiles, prices=generator.lognormal(3, 0.5, len(ids)).round(1)))
    return ProductLibrary([Part(reaction=reaction, slots=tuple(slots))])


def example_values(reward: Property, products: Sequence[Product]) -> list[float]:
    """Return the property that stands for a measurement, for each of some products that were made.

    Args:
        reward: as for `enumerate_library`.
        products: the products.
    """
    return compute_property(reward, [product.smiles for product in products])
