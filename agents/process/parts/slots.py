"""Compare actions of several parts slot by slot, and by sets of slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from agents.contract.inputs import read_graphs
from agents.contract.protocol import GraphSetLike, MoleculeSetLike, SlotLike, SlotSetLike
from agents.process.parts.part import SMALLEST, GraphReading, Itself

if TYPE_CHECKING:
    from torch_geometric.data import Batch

IDENTITY = 0.5  # share of the identity in the kernel of a slot: what a choice adds is not only what it looks like
OWN = 0.05  # share of the prior variance that is each action's own
MORE = "more than two slots"
MOST_TERMS = 64  # sets of slots that are compared: all, if there are at most six slots
FEW = 2.0  # more than all: of many actions no kernel is kept, since looking choices up is fast
WIDTHS = (0.25, 1.0)  # of the Gaussian kernels of numbers, in standard deviations
PRINTS: tuple[Literal["atom_pairs"], Literal["ecfp"]] = ("atom_pairs", "ecfp")
"""Fingerprints by whose Tanimoto similarity molecules in slots are compared."""


@dataclass(frozen=True, eq=False)
class Actions:
    """K actions of S slots as an agent reads them."""

    slots: Sequence[SlotLike]
    """The slots."""
    places: Tensor
    """`(K, S)` int64: which choice stands in each slot."""

    @staticmethod
    def of(source: SlotSetLike) -> Actions:
        """Read a set of actions."""
        return Actions(source.slots, torch.from_numpy(source.places.copy()))

    @property
    def num_graphs(self) -> int:
        """Return K."""
        return len(self.places)

    @cached_property
    def kernels(self) -> list[Tensor]:
        """Return the kernel of the choices of each slot, `(B, B)` with unit diagonal.

        k(a, b) = 1/2 [a = b] + 1/2 s(a, b),   s the similarity that the kind of the slot has
        """
        every = [similarities(slot) for slot in self.slots]
        return [IDENTITY * torch.eye(len(each), dtype=each.dtype) + (1 - IDENTITY) * each for each in every]

    def ways(self) -> list[tuple[float, GraphReading]]:
        """Return the parts of the kernel with their weights: sets u of slots, and what is each action's own.

            k(x, x') = sum_u w_u prod_{s in u} k_s + w [x = x'],   log w_u = c + sum_{s in u} t_s

        With all sets, the sum is exp(c) prod_s (1 + exp(t_s) k_s) up to a constant: one number says how relevant a slot
        is. Slots of which all actions have the same choice are left out.
        """
        own: tuple[float, GraphReading] = (OWN, Itself(self.num_graphs, "the experiment itself"))
        return [own, *(((1 - OWN) / len(self.terms), self.term(term)) for term in self.terms)]

    @cached_property
    def terms(self) -> list[tuple[int, ...]]:
        """Return the sets of slots that are compared: small ones, and that of all."""
        used = [k for k in range(self.places.shape[1]) if len(self.places[:, k].unique()) > 1]
        terms = [term for size in range(1, len(used)) for term in combinations(used, size)]
        most = max(size for size in range(len(used) + 1) if sum(len(term) <= size for term in terms) < MOST_TERMS)
        return [*(term for term in terms if len(term) <= most), *[tuple(used)] * bool(used)]

    def ties(self) -> Tensor:
        """Return how the weights of `ways` are learnt together, `(1 + u, S + 2)`: w, c and t for each slot."""
        ties = torch.zeros(1 + len(self.terms), self.places.shape[1] + 2, dtype=torch.float64)
        ties[0, 0] = ties[1:, 1] = 1.0
        for number, term in enumerate(self.terms, 1):
            ties[number, [k + 2 for k in term]] = 1.0
        return ties

    def term(self, slots: Sequence[int]) -> SlotTerm:
        """Return the product of the kernels of some slots; if several sets have more than two, these have one name."""
        name = MORE if len(slots) > 2 and len(self.terms[-1]) > 3 else " x ".join(self.slots[k].name for k in slots)
        return SlotTerm(name, [self.kernels[k] for k in slots], self.places[:, list(slots)])


@dataclass(frozen=True, eq=False)
class SlotTerm:
    """The product of the kernels of some slots."""

    name: str
    """The slots that it compares."""
    kernels: Sequence[Tensor]
    """The kernel of the choices of each of them, `(B, B)`."""
    places: Tensor
    """`(K, t)` int64: which choice of each of them every action has."""
    shares: Sequence[float] = (1.0,)
    """Of one kernel."""

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of actions, `(1, q, n)`."""
        total = torch.ones(len(rows), len(index), dtype=torch.float64)
        for kernel, places in zip(self.kernels, self.places.T, strict=True):
            total *= kernel[places[rows]][:, places[index]]
        return total.unsqueeze(0)

    def diagonal(self, index: Tensor) -> Tensor:
        """Return ones, `(1, n)`."""
        return torch.ones(1, len(index), dtype=torch.float64)

    def exchange(self, kept: Tensor, graphs: Batch | None) -> SlotTerm:
        """Refuse other graphs: a round shows graphs, and not the slots that they are of."""
        raise ValueError("Expected the actions of `reset` in each observation. Got other graphs.")

    def known(self) -> Sequence[Tensor]:
        """Return tensors that identify the actions to the part."""
        return [self.places, *self.kernels]


def similarities(slot: SlotLike) -> Tensor:
    """Return how similar the choices of a slot are, `(B, B)` float64 with unit diagonal, positive semi-definite.

    Words are equal or not. Numbers have Gaussian kernels. Molecules are compared by fingerprints, other graphs by all
    that `gp-` reads of them. An empty choice is like no other.

    Args:
        slot: the slot.
    """
    count = len(slot.choices)
    if slot.kind == "number":
        numbers = torch.tensor([float(each) for each in slot.choices], dtype=torch.float64)
        scaled = (numbers - numbers.mean()) / numbers.std(unbiased=False).clamp(min=SMALLEST)
        square = (scaled.unsqueeze(1) - scaled).square()
        return torch.stack([(square / (-2 * width**2)).exp() for width in WIDTHS]).mean(0)
    kernel = torch.eye(count, dtype=torch.float64)
    if slot.graphs is None:
        return kernel
    some = torch.tensor([k for k, choice in enumerate(slot.choices) if choice != ""])
    kernel[some.unsqueeze(1), some] = between_graphs(slot.graphs)
    return kernel


def between_graphs(graphs: GraphSetLike) -> Tensor:
    """Return how similar graphs are, `(n, n)` with unit diagonal: molecules by fingerprints, others by all there is."""
    from agents.process.description import Description  # here, because it makes kernels of parts
    from agents.process.description import read_graphs as read_ways
    from agents.process.settings import GraphProcessSettings

    if isinstance(graphs, MoleculeSetLike):
        from agents.descriptors import compute_descriptors
        from agents.molecule.fingerprints import Fingerprint

        counts, every = compute_descriptors(graphs.smiles, PRINTS, False).counts, torch.arange(len(graphs.smiles))
        return torch.stack([Fingerprint(name, counts[name]).columns(every, every)[0] for name in PRINTS]).mean(0)
    if (given := getattr(graphs, "kernel", None)) is not None:  # nothing else is known of them
        kernel = torch.tensor(given)
    else:
        batch = read_graphs(None, graphs)
        described = Description.of(read_ways(batch, GraphProcessSettings()), batch.num_graphs)
        every = torch.arange(batch.num_graphs)
        kernel = described.mixture([part.weight for part in described.parts]).columns(every, every)
    root = kernel.diagonal().clamp(min=SMALLEST).sqrt()
    return kernel / torch.outer(root, root)
