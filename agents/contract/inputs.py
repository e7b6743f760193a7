"""Read and check the inputs of all agents: graphs, seeds, masks, actions and rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from agents import LARGEST_REWARD
from agents.contract.protocol import GraphSetLike

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

TIE = 1e-12  # relative to the largest absolute index; rounding errors of float64 are about 1e-15


class Instance(NamedTuple):
    """A graph of an observation, with the fields of Gymnasium's `GraphInstance`, which is not imported here."""

    nodes: NDArray[np.float32]
    """`(n, d)`. Features of the nodes."""
    edges: NDArray[np.float32] | None
    """`(E, e)`. Features of the edges."""
    edge_links: NDArray[np.int64] | None
    """`(E, 2)`. Pairs of joined nodes."""


def read_graphs(observation: object, graph_set: GraphSetLike | None = None) -> Batch:
    """Return the K graphs as one PyG batch.

    Args:
        observation: a tuple of K Gymnasium `GraphInstance`, ignored if `graph_set` is given.
        graph_set: the K graphs. None: read them from the observation. If it has `to_batch()`, as a `GraphSet` has,
            the graphs are not made one by one.

    Returns:
        A batch of K graphs.

    Raises:
        TypeError: if neither argument holds graphs.
        ValueError: if there are no graphs, or their numbers of features of nodes or of edges differ.
    """
    if graph_set is not None:
        if hasattr(graph_set, "to_batch"):  # of a `GraphSet`, which was checked when it was made
            batch: Batch = graph_set.to_batch()
            return batch
        graphs = list(graph_set.to_pyg())
    elif holds_graphs(observation) or (isinstance(observation, (tuple, list)) and not observation):
        graphs = [make_data(graph) for graph in observation]
    else:
        raise TypeError(
            f"Expected an observation of graphs (a tuple of GraphInstance). Got {type(observation).__name__}. If "
            f"observations are indices, pass `graph_set=env.unwrapped.graph_set`."
        )
    widths = sorted({graph.num_node_features for graph in graphs})
    if len(widths) != 1:
        raise ValueError(f"Expected graphs with equal numbers of features, at least one. Got {widths}.")
    from torch_geometric.data import Batch

    return Batch.from_data_list(_with_equal_edge_features(graphs))


def derive_streams(seed: int) -> tuple[int, torch.Generator]:
    """Return a seed for the initial weights and a generator for all other draws, independent children of `seed`.

    Args:
        seed: an integer >= 0.

    Raises:
        ValueError: if `seed` is not an integer >= 0.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"Expected `seed` to be an integer >= 0. Got {seed!r}.")
    network, play = (int(state >> 1) for state in np.random.SeedSequence(seed).generate_state(2, np.uint64))
    return network, torch.Generator().manual_seed(play)


def read_mask(action_mask: ArrayLike | None, num_graphs: int) -> Tensor:
    """Return the mask as a `(K,)` bool tensor.

    Args:
        action_mask: `(K,)`. True or 1 for the allowed graphs, False or 0 for the others. None: all are allowed. It may
            be longer, with zeros after the K graphs, if their number varies.
        num_graphs: K.

    Raises:
        ValueError: if the mask has another shape or other values, or allows no graph or a nonexistent one.
    """
    if action_mask is None:
        return torch.ones(num_graphs, dtype=torch.bool)

    def fits(mask: NDArray[Any]) -> Any:
        allows_some = mask.ndim == 1 and len(mask) >= num_graphs and mask[:num_graphs].any()
        return allows_some and ((mask == 0) | (mask == 1)).all() and not mask[num_graphs:].any()

    expected = f"`({num_graphs},)` zeros and ones, not all zero, which only zeros may follow"
    mask = _read("action_mask", action_mask, "biuf", expected, fits)
    return torch.from_numpy(mask[:num_graphs].astype(np.bool_))


def read_feedback(action: ArrayLike, reward: ArrayLike, num_graphs: int) -> tuple[Tensor, Tensor]:
    """Return actions as `(n,)` int64 and rewards as `(n,)` float64, n >= 1.

    Args:
        action: an index of the set, or `(n,)` indices; integers.
        reward: a number from -`LARGEST_REWARD` to `LARGEST_REWARD`, or `(n,)` of them.
        num_graphs: K.

    Raises:
        ValueError: if lengths differ, an action is not an index of the set, or a reward is not such a number.
    """
    indices = f"an integer from 0 to {num_graphs - 1}, or `(n,)` of them, n >= 1"
    given = _read("action", action, "iu", indices, lambda a: a.ndim < 2 and a.size > 0 and (a >= 0) & (a < num_graphs))
    actions = np.atleast_1d(given).astype(np.int64)

    def fits(rewards: NDArray[Any]) -> Any:  # their squares can be added up
        return rewards.shape in (given.shape, actions.shape) and np.abs(rewards.astype(np.float64)) <= LARGEST_REWARD

    expected = f"a finite number for each action ({len(actions)} in all), at most {LARGEST_REWARD} in absolute value"
    rewards = np.atleast_1d(_read("reward", reward, "biuf", expected, fits)).astype(np.float64)
    return torch.from_numpy(actions), torch.from_numpy(rewards)


def read_sides(above: ArrayLike, count: int) -> Tensor:
    """Return the side of each bound on which the result lies, `(count,)` bool.

    Args:
        above: True for results above their bounds, False for results below: one for all, or one for each.
        count: number of bounds.

    Raises:
        ValueError: if `above` is neither one truth value nor `count` of them.
    """
    expected = f"True or False, or {count} of these"
    sides = _read("above", above, "b", expected, lambda sides: sides.shape in ((), (count,)))
    return torch.from_numpy(np.broadcast_to(sides, count).astype(np.bool_))


def read_noises(noise: ArrayLike, count: int) -> Tensor:
    """Return the standard deviations of measurement noise, `(count,)` float64.

    Args:
        noise: a positive number up to `LARGEST_REWARD` for all results, or one for each.
        count: number of results.

    Raises:
        ValueError: if `noise` is neither one such number nor `count` of them.
    """
    expected = f"a number above 0 and up to {LARGEST_REWARD:g}, or {count} of these"
    noises = _read(
        "noise", noise, "iuf", expected, lambda n: n.shape in ((), (count,)) and (n > 0) & (n <= LARGEST_REWARD)
    )
    return torch.from_numpy(np.broadcast_to(noises, count).astype(np.float64))


def read_pending(pending: Sequence[int], num_graphs: int) -> list[int]:
    """Return the indices of the pending graphs.

    Args:
        pending: different indices of the set.
        num_graphs: K.

    Raises:
        ValueError: if an index is out of range or occurs twice.
    """
    indices = read_awaiting(pending, num_graphs, "pending")
    if len({*indices}) < len(indices):
        raise ValueError(f"Expected `pending` to be different graphs. Got {pending!r}.")
    return indices


def read_awaiting(awaiting: Sequence[int], num_graphs: int, name: str = "awaiting") -> list[int]:
    """Return the indices of the graphs with pending rewards.

    Args:
        awaiting: indices of the set, repeated once per play.
        num_graphs: K.
        name: name of the argument, for the message.

    Raises:
        ValueError: if an index is out of range.
    """
    expected = f"integers from 0 to {num_graphs - 1}"
    given = _read(name, awaiting, "iu", expected, lambda a: a.ndim == 1 and (a >= 0) & (a < num_graphs))
    return [int(index) for index in given]


def _read(name: str, given: object, kinds: str, expected: str, fits: Callable[[NDArray[Any]], Any]) -> NDArray[Any]:
    """Return an argument as an array, possibly empty, of one of some kinds of NumPy.

    Raises:
        ValueError: if it is no such array or does not fit. The message names the argument and the expected value.
    """
    try:
        values = np.asarray(given)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths; a tensor that requires gradients
        values = np.array(None)
    if (values.size > 0 and values.dtype.kind not in kinds) or not np.all(fits(values)):
        raise ValueError(f"Expected `{name}` to be {expected}. Got {given!r}.")
    return values


def holds_graphs(observation: object) -> TypeGuard[Sequence[Instance]]:
    """Return True if an observation shows graphs, as a tuple of Gymnasium `GraphInstance`.

    Any other observation, such as indices or None, shows no graphs and is ignored.

    Raises:
        TypeError: if it shows graphs in an unsupported form, or other objects among them.
    """
    entries = observation if isinstance(observation, (tuple, list)) else ()
    shown = [hasattr(entry, "edge_links") for entry in entries]
    if shown and all(shown):
        return True
    first = entries[0] if len(entries) else observation
    in_another_form = hasattr(first, "edge_index") or (isinstance(observation, Mapping) and "edge_index" in observation)
    if any(shown) or in_another_form:
        raise TypeError(
            "Expected an observation of graphs to be a tuple of GraphInstance alone. Got graphs in another form, or "
            'something else among them. Give agents the observations of `observe="graphs"`, without a wrapper that '
            "pads them."
        )
    return False


def masked_argmax(index: Tensor, mask: Tensor, generator: torch.Generator) -> int:
    """Return the allowed graph with the largest `index`, with ties broken at random.

    Values that differ from the largest only by rounding errors count as ties, so that rounding does not affect plays.

    Args:
        index: `(K,)` float64, no NaN.
        mask: `(K,)` bool, not all False.
        generator: breaks ties.

    Returns:
        A graph of the set, from 0 to K - 1.
    """
    values, allowed = index.numpy(), mask.numpy()  # NumPy calls cost less, which matters for the cheap agents
    candidates = values[allowed]
    best = candidates.max()
    tolerance = TIE * np.abs(candidates[np.isfinite(candidates)]).max() if np.isfinite(best) else 0.0
    tied = np.flatnonzero(allowed & (values >= best - tolerance))
    return int(tied[int(torch.randint(len(tied), (), generator=generator))])


def _with_equal_edge_features(graphs: list[Data]) -> list[Data]:
    """Return graphs with edge features `(E, e)` in all or in none, as a batch requires. A single column may be flat.

    Raises:
        ValueError: if a graph has edges without features, or a different number of features.
    """
    given = (graph.edge_attr for graph in graphs)
    features = [edges[:, None] if edges is not None and edges.dim() == 1 else edges for edges in given]
    pairs = zip(graphs, features, strict=True)
    widths = {0 if edges is None else edges.shape[1] for graph, edges in pairs if graph.num_edges or edges is not None}
    if len(widths) > 1:
        raise ValueError(f"Expected graphs with equal numbers of edge features. Got {sorted(widths)}.")
    if not any(widths):
        return graphs
    full = [torch.zeros(0, *widths) if edges is None else edges for edges in features]
    return [copy(graph).update({"edge_attr": edges}) for graph, edges in zip(graphs, full, strict=True)]


def make_data(graph: Instance) -> Data:
    """Return a graph of an observation as PyG `Data`."""
    links = np.zeros((0, 2), np.int64) if graph.edge_links is None else graph.edge_links
    edges = None if graph.edges is None else torch.tensor(graph.edges)
    from torch_geometric.data import Data

    return Data(torch.tensor(graph.nodes), torch.tensor(np.asarray(links, np.int64).T.copy()), edges)
