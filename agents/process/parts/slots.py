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

IDENTITY = 0.5  # share of the identity in the kernel of a slot: a choice's effect depends not only on its features
OWN = 0.05  # share of the prior variance of the action-specific part
MORE = "more than two slots"
MOST_TERMS = 64  # maximum number of compared sets of slots: all, for up to six slots
FEW = 2.0  # above 1: kernels of many actions are never cached, because lookups are fast
WIDTHS = (0.25, 1.0)  # of the Gaussian kernels of numbers, in standard deviations
PRINTS: tuple[Literal["atom_pairs"], Literal["ecfp"]] = ("atom_pairs", "ecfp")
"""Fingerprints for the Tanimoto similarity of molecules in slots."""


@dataclass(frozen=True, eq=False)
class Actions:
    """The agent's view of K actions of S slots."""

    slots: Sequence[SlotLike]
    """The slots."""
    places: Tensor
    """`(K, S)` int64: the choice in each slot."""

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

        k(a, b) = 1/2 [a = b] + 1/2 s(a, b),   s the similarity for the kind of the slot
        """
        every = [similarities(slot) for slot in self.slots]
        return [IDENTITY * torch.eye(len(each), dtype=each.dtype) + (1 - IDENTITY) * each for each in every]

    def ways(self) -> list[tuple[float, GraphReading]]:
        """Return the parts of the kernel with their weights: sets u of slots, and an action-specific part.

            k(x, x') = sum_u w_u prod_{s in u} k_s + w [x = x'],   log w_u = c + sum_{s in u} t_s

        With all sets, the sum is exp(c) prod_s (1 + exp(t_s) k_s) up to a constant: one number describes the relevance
        of a slot. Slots with the same choice in all actions are dropped.
        """
        own: tuple[float, GraphReading] = (OWN, Itself(self.num_graphs, "the experiment itself"))
        return [own, *(((1 - OWN) / len(self.terms), self.term(term)) for term in self.terms)]

    @cached_property
    def terms(self) -> list[tuple[int, ...]]:
        """Return the compared sets of slots: small ones, and the set of all."""
        used = [k for k in range(self.places.shape[1]) if len(self.places[:, k].unique()) > 1]
        terms = [term for size in range(1, len(used)) for term in combinations(used, size)]
        most = max(size for size in range(len(used) + 1) if sum(len(term) <= size for term in terms) < MOST_TERMS)
        return [*(term for term in terms if len(term) <= most), *[tuple(used)] * bool(used)]

    def ties(self) -> Tensor:
        """Return the ties between the weights of `ways`, `(1 + u, S + 2)`: w, c and t for each slot."""
        ties = torch.zeros(1 + len(self.terms), self.places.shape[1] + 2, dtype=torch.float64)
        ties[0, 0] = ties[1:, 1] = 1.0
        for number, term in enumerate(self.terms, 1):
            ties[number, [k + 2 for k in term]] = 1.0
        return ties

    def term(self, slots: Sequence[int]) -> SlotTerm:
        """Return the product of the kernels of some slots. Several sets of more than two slots share one name."""
        name = MORE if len(slots) > 2 and len(self.terms[-1]) > 3 else " x ".join(self.slots[k].name for k in slots)
        return SlotTerm(name, [self.kernels[k] for k in slots], self.places[:, list(slots)])


@dataclass(frozen=True, eq=False)
class SlotTerm:
    """The product of the kernels of some slots."""

    name: str
    """The compared slots."""
    kernels: Sequence[Tensor]
    """The kernel of the choices of each of them, `(B, B)`."""
    places: Tensor
    """`(K, t)` int64: the choice of each action in each of them."""
    shares: Sequence[float] = (1.0,)
    """Share of the only kernel."""

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
        """Refuse other graphs, because a round shows graphs without their slots."""
        raise ValueError("Expected the actions of `reset` in each observation. Got other graphs.")

    def known(self) -> Sequence[Tensor]:
        """Return tensors that identify the actions to the part."""
        return [self.places, *self.kernels]


def similarities(slot: SlotLike) -> Tensor:
    """Return the similarities of the choices of a slot, `(B, B)` float64 with unit diagonal, positive semi-definite.

    Words are equal or not. Numbers have Gaussian kernels. Molecules are compared by fingerprints, other graphs by all
    parts of the `gp-` agents. An empty choice is dissimilar to all others.

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
    """Return the similarities of graphs, `(n, n)` with unit diagonal: by fingerprints for molecules, or all parts."""
    from agents.process.description import Description  # imported here, because it makes kernels of parts
    from agents.process.description import read_graphs as read_ways
    from agents.process.settings import GraphProcessSettings

    if isinstance(graphs, MoleculeSetLike):
        from agents.descriptors import compute_descriptors
        from agents.molecule.fingerprints import Fingerprint

        counts, every = compute_descriptors(graphs.smiles, PRINTS, False).counts, torch.arange(len(graphs.smiles))
        return torch.stack([Fingerprint(name, counts[name]).columns(every, every)[0] for name in PRINTS]).mean(0)
    if (given := getattr(graphs, "kernel", None)) is not None:  # the only available data
        kernel = torch.tensor(given)
    else:
        batch = read_graphs(None, graphs)
        described = Description.of(read_ways(batch, GraphProcessSettings()), batch.num_graphs)
        every = torch.arange(batch.num_graphs)
        kernel = described.mixture([part.weight for part in described.parts]).columns(every, every)
    root = kernel.diagonal().clamp(min=SMALLEST).sqrt()
    return kernel / torch.outer(root, root)
