"""Train a network from scratch on the molecules measured so far."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from agents.contract.protocol import DivergedError
from agents.molecule.packed import PackedGraphs
from agents.molecule.settings import MoleculeSettings


def train(
    network: nn.Module,
    graphs: PackedGraphs,
    index: Tensor,
    targets: Tensor,
    settings: MoleculeSettings,
    generator: torch.Generator,
) -> None:
    """Minimise the squared error by AdamW in one cycle of learning rates, in passes over shuffled molecules.

    Args:
        network: `Batch -> (K,)`, at its initial weights; changed in place.
        graphs: the molecules of the set.
        index: `(q,)` int64. Molecules measured.
        targets: `(q,)` float32. Standardised values.
        settings: hold steps, batch size, learning rate and weight decay.
        generator: shuffles the molecules.

    Raises:
        DivergedError: if a weight is not finite at the end.
    """
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=settings.weight_decay)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.learning_rate, total_steps=settings.steps)
    size = min(settings.batch_size, len(index))
    queue = torch.empty(0, dtype=torch.int64)
    for _ in range(settings.steps):
        if len(queue) < size:
            queue = torch.cat([queue, torch.randperm(len(index), generator=generator)])
        drawn, queue = queue[:size], queue[size:]
        loss = (network(graphs.take(index[drawn])) - targets[drawn]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        cycle.step()
    if not all(parameter.isfinite().all() for parameter in network.parameters()):
        raise DivergedError("The network's weights are not finite. Lower `learning_rate`.")
