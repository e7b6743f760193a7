"""Read and check the inputs of all agents: graphs, seeds, masks, actions and rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from agents import LARGEST_REWARD
from agents.contract.protocol import GraphSetLike

if TYPE_CHECKING:
    from torch_geometric.data import Batch, Data

TIE = 1e-12  # relative to the largest index in absolute value; rounding errors of float64 are about 1e-15


class Instance(Protocol):
    """A graph of an observation, with the fields of Gymnasium's `GraphInstance`, which is not imported here."""

    @property
    def nodes(self) -> NDArray[np.float32]:
        """Return the features of the nodes, `(n, d)`."""

    @property
    def edges(self) -> NDArray[np.float32] | None:
        """Return the features of the edges, `(E, e)`."""

    @property
    def edge_links(self) -> NDArray[np.int64] | None:
        """Return the pairs of nodes that edges join, `(E, 2)`."""


def read_graphs(observation: object, graph_set: GraphSetLike | None = None) -> Batch:
    """Return the K graphs as one PyG batch.

    Args:
        observation: a tuple of K Gymnasium `GraphInstance`; not read if `graph_set` is given.
        graph_set: the K graphs; None: read them from the observation. If it has `to_batch()`, as a `GraphSet` has,
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
            f"Expected an observation of graphs (a tuple of GraphInstance). Got {type(observation).__name__}. "
            "Where observations are indices, pass `graph_set=env.unwrapped.graph_set`."
        )
    widths = sorted({graph.num_node_features for graph in graphs})
    if len(widths) != 1:
        raise ValueError(f"Expected graphs with equal numbers of features, at least one. Got {widths}.")
    from torch_geometric.data import Batch

    return Batch.from_data_list(_with_equal_edge_features(graphs))


def derive_streams(seed: int) -> tuple[int, torch.Generator]:
    """Return a seed for the initial weights and a generator for everything after, independent children of `seed`.

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
        action_mask: `(K,)`. True or 1 for the graphs that are allowed, else False or 0; None: all are allowed. It may
            be longer, with zeros after the K graphs, as where their number varies.
        num_graphs: K.

    Raises:
        ValueError: if the mask is of another shape, has other values, or allows no graph, or one that does not exist.
    """
    if action_mask is None:
        return torch.ones(num_graphs, dtype=torch.bool)
    mask = _as_array(action_mask)
    if mask.ndim != 1 or len(mask) < num_graphs:
        raise ValueError(f"Expected `action_mask` of shape `({num_graphs},)`, or longer. Got `{mask.shape}`.")
    if mask.dtype.kind not in "biuf" or not ((mask == 0) | (mask == 1)).all():
        raise ValueError(f"Expected `action_mask` to hold zeros and ones. Got {action_mask!r}.")
    if mask[num_graphs:].any():
        raise ValueError(f"Expected `action_mask` to hold zeros after the {num_graphs} graphs. Got {action_mask!r}.")
    mask = mask[:num_graphs]
    if not mask.any():
        raise ValueError("Expected `action_mask` to allow at least one graph. Got zeros only.")
    return torch.from_numpy(mask.astype(np.bool_))


def read_feedback(action: ArrayLike, reward: ArrayLike, num_graphs: int) -> tuple[Tensor, Tensor]:
    """Return actions as `(n,)` int64 and rewards as `(n,)` float64, n >= 1.

    Args:
        action: an index of the set, or `(n,)` indices; integers.
        reward: a number from -`LARGEST_REWARD` to `LARGEST_REWARD`, or `(n,)` of them.
        num_graphs: K.

    Raises:
        ValueError: if lengths differ, an action is not an index of the set, or a reward is not such a number.
    """
    actions, rewards = np.atleast_1d(_as_array(action)), np.atleast_1d(_as_array(reward))
    if actions.ndim != 1 or actions.shape != rewards.shape or len(actions) == 0:
        raise ValueError(
            f"Expected as many actions as rewards, at least one. Got shapes `{actions.shape}` and `{rewards.shape}`."
        )
    if actions.dtype.kind not in "iu" or actions.min() < 0 or actions.max() >= num_graphs:
        raise ValueError(f"Expected actions that are integers from 0 to {num_graphs - 1}. Got {action!r}.")
    if rewards.dtype.kind not in "biuf" or not np.isfinite(rewards).all():
        raise ValueError(f"Expected rewards that are finite numbers. Got {reward!r}. Nothing was learnt from them.")
    if (np.abs(rewards.astype(np.longdouble)) > LARGEST_REWARD).any():
        raise ValueError(
            f"Expected rewards from -{LARGEST_REWARD} to {LARGEST_REWARD}, whose squares can be added up. "
            f"Got {reward!r}. Nothing was learnt from them. Give all rewards in a larger unit."
        )
    return torch.from_numpy(actions.astype(np.int64)), torch.from_numpy(rewards.astype(np.float64))


def read_sides(above: ArrayLike, count: int) -> Tensor:
    """Return on which side of their bounds results lie, `(count,)` bool.

    Args:
        above: True for results above their bounds, False for results below; one for all, or one for each.
        count: number of bounds.

    Raises:
        ValueError: if it is neither one truth value nor `count` of them.
    """
    sides = np.asarray(_as_array(above))
    if sides.dtype != np.bool_ or sides.shape not in ((), (count,)):
        raise ValueError(f"Expected `above` to be True or False, or {count} of these. Got {above!r}.")
    return torch.from_numpy(np.broadcast_to(sides, count).copy())


def read_noises(noise: ArrayLike, count: int) -> Tensor:
    """Return the standard deviations of measuring noise, `(count,)` float64.

    Args:
        noise: a positive number up to `LARGEST_REWARD` for all results, or one for each.
        count: number of results.

    Raises:
        ValueError: if it is neither one such number nor `count` of them.
    """
    noises = np.asarray(_as_array(noise))
    good = noises.dtype.kind in "iuf" and noises.shape in ((), (count,))
    if not good or not ((noises > 0) & (noises <= LARGEST_REWARD)).all():
        raise ValueError(
            f"Expected `noise` to be a number above 0 and up to {LARGEST_REWARD:g}, or {count} of these. Got {noise!r}."
        )
    return torch.from_numpy(np.broadcast_to(noises, count).astype(np.float64))


def read_pending(pending: Sequence[int], num_graphs: int) -> list[int]:
    """Return the indices of the graphs that are being measured.

    Args:
        pending: different indices of the set.
        num_graphs: K.

    Raises:
        ValueError: if an index is not one of the set, or occurs twice.
    """
    indices = _read_indices(pending, num_graphs)
    if indices is None or len(set(indices)) < len(indices):
        raise ValueError(f"Expected `pending` to be different integers from 0 to {num_graphs - 1}. Got {pending!r}.")
    return indices


def read_awaiting(awaiting: Sequence[int], num_graphs: int) -> list[int]:
    """Return the indices of the graphs whose rewards are on their way.

    Args:
        awaiting: indices of the set; one that was played several times occurs as often.
        num_graphs: K.

    Raises:
        ValueError: if an index is not one of the set.
    """
    indices = _read_indices(awaiting, num_graphs)
    if indices is None:
        raise ValueError(f"Expected `awaiting` to be integers from 0 to {num_graphs - 1}. Got {awaiting!r}.")
    return indices


def _read_indices(given: Sequence[int], num_graphs: int) -> list[int] | None:
    checked = _as_array(given)
    if checked.shape == (0,):
        return []
    good = checked.ndim == 1 and checked.dtype.kind in "iu" and ((checked >= 0) & (checked < num_graphs)).all()
    indices: list[int] = checked.tolist()
    return indices if good else None


def holds_graphs(observation: object) -> TypeGuard[Sequence[Instance]]:
    """Return whether an observation shows graphs, as a tuple of Gymnasium `GraphInstance`.

    Any other observation, such as indices or None, shows none, and is not read.

    Raises:
        TypeError: if it shows graphs in another form, which no agent reads, or something else among them.
    """
    entries = observation if isinstance(observation, (tuple, list)) else ()
    shown = [hasattr(entry, "edge_links") for entry in entries]
    if any(shown):
        if not all(shown):
            stranger = entries[shown.index(False)]
            raise TypeError(f"Expected an observation of graphs alone. Got {type(stranger).__name__} among them.")
        return True
    first = entries[0] if len(entries) else observation
    if hasattr(first, "edge_index") or (isinstance(observation, Mapping) and "edge_index" in observation):
        raise TypeError(
            "Expected an observation of graphs to be a tuple of GraphInstance. Got graphs in another form. Give agents "
            'the observations of `observe="graphs"`, without a wrapper that pads them.'
        )
    return False


def masked_argmax(index: Tensor, mask: Tensor, generator: torch.Generator) -> int:
    """Return the graph of largest `index` among those that `mask` allows; break ties at random.

    Values that differ from the largest by no more than rounding errors count as ties, so that rounding does not decide
    a play.

    Args:
        index: `(K,)` float64, no NaN.
        mask: `(K,)` bool, not all False.
        generator: breaks ties.

    Returns:
        A graph of the set, from 0 to K - 1.
    """
    values, allowed = index.numpy(), mask.numpy()  # a call costs less there, which the cheap agents notice
    candidates = values[allowed]
    best = candidates.max()
    tolerance = TIE * np.abs(candidates[np.isfinite(candidates)]).max() if np.isfinite(best) else 0.0
    tied = np.flatnonzero(allowed & (values >= best - tolerance))
    return int(tied[int(torch.randint(len(tied), (), generator=generator))])


def _as_array(values: object) -> NDArray[Any]:
    """Return an array; what cannot become one, such as rows of different lengths, becomes an object that is refused."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError):  # RuntimeError: a tensor that requires gradients
        return np.array(None)


def _with_equal_edge_features(graphs: list[Data]) -> list[Data]:
    """Return graphs with edge features `(E, e)` in all or in none, because a batch needs them so; a column may be flat.

    Raises:
        ValueError: if a graph has edges without features, or another number of features than others.
    """
    given = [graph.edge_attr for graph in graphs]
    features = [edges[:, None] if edges is not None and edges.dim() == 1 else edges for edges in given]
    widths = sorted({edges.shape[1] for edges in features if edges is not None})
    if not widths:
        return graphs
    bare = next((k for k, graph in enumerate(graphs) if features[k] is None and graph.num_edges), None)
    if len(widths) > 1 or bare is not None:
        missing = "" if bare is None else f", and none in graph {bare}"
        raise ValueError(f"Expected graphs with equal numbers of edge features. Got {widths}{missing}.")
    full = [torch.zeros(0, widths[0]) if edges is None else edges for edges in features]
    return [
        graph if edges is before else copy(graph).update({"edge_attr": edges})
        for graph, before, edges in zip(graphs, given, full, strict=True)
    ]


def make_data(graph: Instance) -> Data:
    """Return a graph of an observation as PyG `Data`."""
    links = np.zeros((0, 2), np.int64) if graph.edge_links is None else graph.edge_links
    edges = None if graph.edges is None else torch.tensor(graph.edges)
    from torch_geometric.data import Data

    return Data(
        x=torch.tensor(graph.nodes), edge_index=torch.tensor(np.asarray(links, np.int64).T.copy()), edge_attr=edges
    )
