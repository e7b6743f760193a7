"""Encode what was seen in each round of many repetitions: without loss, and without what follows from the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from graph_bandit_lab.episodes.findings import FINDINGS
from graph_bandit_lab.storage.rows import ARRAYS, Row
from graph_bandit_lab.transfer.numbers import (
    Bits,
    find_changes,
    from_planes,
    from_residuals,
    to_changes,
    to_planes,
    to_residuals,
)

MEANS = ("regret", *FINDINGS)  # that are the same for long
ALONE = -1  # the reference of rewards that are stored as they are
Encoded = dict[str, NDArray[np.generic]]


def encode_rounds(rows: Sequence[Row]) -> Encoded:
    """Encode the arrays of repetitions; those of one instance are best encoded together.

    Regret is the same whenever a graph of an instance is played, and what was found changes rarely: only changes are
    kept, in one table of all values. Where two agents play a round of an instance with the same noise, their rewards
    differ as their regrets do, but for rounding: one agent's rewards are kept, and the rounding of the others.

    Args:
        rows: with `environment` (text), `seed`, `actions`, `rewards`, `regret`, `FINDINGS` and `diagnostics`.

    Raises:
        ValueError: if arrays of a repetition are of another type or length than results have.
    """
    for row in rows:
        _check(row)
    actions, rounds = _join([row["actions"] for row in rows]), np.array([len(row["actions"]) for row in rows], np.int64)
    encoded: Encoded = {
        "rounds": rounds,
        "actions": to_planes(actions),
        **_encode_rewards(rows),
    }
    kept = []
    for name, context in _contexts(rows, actions, rounds).items():
        has = np.array([row[name] is not None for row in rows], np.bool_)
        of_rows = _join([row[name] for row in rows if row[name] is not None])
        flags, values = to_changes(of_rows, context[np.repeat(has, rounds)])
        encoded |= {f"{name}_stored": np.packbits(has), f"{name}_changes": flags}
        kept.append(values)
    table, places = np.unique(np.concatenate(kept), return_inverse=True)
    encoded["values"] = to_planes(np.diff(table, prepend=np.uint64(0)))
    encoded["value_places"] = to_planes(places.astype(np.uint64))
    return encoded | _encode_diagnostics(rows)


def decode_rounds(encoded: Encoded, rows: Sequence[Row]) -> list[Row]:
    """Decode what `encode_rounds` wrote.

    Args:
        encoded: the arrays.
        rows: with `environment`, `seed` and `diagnostics`: the names of those that were recorded, or None.

    Returns:
        Each row with its arrays.
    """
    rounds, actions = encoded["rounds"].astype(np.int64), _unpack(encoded, "actions")
    table, places = np.cumsum(_unpack(encoded, "values")), _unpack(encoded, "value_places").astype(np.int64)
    means: dict[str, list[NDArray[np.float64] | None]] = {}
    for name, context in _contexts(rows, actions, rounds).items():
        has = np.unpackbits(encoded[f"{name}_stored"].astype(np.uint8), count=len(rows)).astype(np.bool_)
        changes, count = find_changes(encoded[f"{name}_changes"].astype(np.uint8), context[np.repeat(has, rounds)])
        parts = iter(_split(table[places[:count]][changes], rounds[has]))
        means[name] = [next(parts).view(np.float64) if stored else None for stored in has]
        places = places[count:]
    regret = [mine for mine in means["regret"] if mine is not None]
    columns: Mapping[str, Sequence[object]] = {
        "actions": [part.view(np.int64) for part in _split(actions, rounds)],
        "rewards": _decode_rewards(encoded, regret),
        "diagnostics": _decode_diagnostics(encoded, [row["diagnostics"] for row in rows]),
        **means,
    }
    return [{**row, **{name: columns[name][i] for name in columns}} for i, row in enumerate(rows)]


def _check(row: Row) -> None:
    """Refuse arrays that no version of the package stores."""
    length = len(row["actions"])
    for name in (*ARRAYS, *FINDINGS):
        array, dtype = row[name], np.dtype(np.int64 if name == "actions" else np.float64)
        if array is None and name in FINDINGS:
            continue
        if array.dtype != dtype or array.shape != (length,):
            raise ValueError(
                f"Expected `{name}` of {row['label']}, seed {row['seed']}, to be {dtype} of shape ({length},). Got "
                f"{array.dtype} of shape {array.shape}. Another program has stored it; it cannot be exported."
            )
    for name, array in (row["diagnostics"] or {}).items():
        if array.dtype != np.float64 or array.ndim != 1:
            raise ValueError(
                f"Expected the diagnostic `{name}` of {row['label']}, seed {row['seed']}, to be float64 of shape (T,). "
                f"Got {array.dtype} of shape {array.shape}. Another program has stored it; it cannot be exported."
            )


def _contexts(rows: Sequence[Row], actions: Bits, rounds: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """Return a number for each round, by the names of `MEANS`: where it is equal, the value is expected to be."""
    instances: dict[tuple[object, object], int] = {}
    each = [instances.setdefault((row["environment"], row["seed"]), len(instances)) for row in rows]
    graphs, graph = np.unique(actions, return_inverse=True)
    of_instance = np.repeat(np.array(each, np.int64), rounds) * len(graphs) + graph
    of_row = np.repeat(np.arange(len(rows)), rounds)
    return {name: of_instance if name == "regret" else of_row for name in MEANS}


def _encode_rewards(rows: Sequence[Row]) -> Encoded:
    """Encode rewards by those of another repetition, of the same instance or at least with the noise of its seed."""
    longest: dict[tuple[object, ...], int] = {}  # repetition so far, of each instance and of each seed
    references, offsets = [], []
    alone: list[Bits] = []
    residuals: list[Bits] = []
    for i, row in enumerate(rows):
        bits, places = _join([row["rewards"]]), ((row["environment"], row["seed"]), (row["seed"],))
        best = ALONE, 0.0, bits, 52.0 * len(bits)  # bits of mantissas
        for j in {longest[place] for place in places if place in longest}:
            offset = _offset_between(rows[j], row)
            predicted = _predict(rows[j]["rewards"], rows[j]["regret"], row["regret"], offset)
            if predicted is not None:
                left = to_residuals(bits, predicted)
                cost = float(np.log2(left + 1.0).sum())
                best = min(best, (j, offset, left, cost), key=lambda choice: choice[-1])
        references.append(best[0])
        offsets.append(best[1])
        (alone if best[0] == ALONE else residuals).append(best[2])
        for place in places:
            if len(bits) > len(rows[longest.setdefault(place, i)]["rewards"]):
                longest[place] = i
    return {
        "references": np.array(references, np.int64),
        "offsets": np.array(offsets, np.float64),
        "rewards": to_planes(_join(alone)),
        "reward_residuals": to_planes(_join(residuals)),
    }


def _decode_rewards(encoded: Encoded, regret: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    parts = {name: _unpack(encoded, name) for name in ("rewards", "reward_residuals")}
    rewards: list[NDArray[np.float64]] = []
    references, offsets = encoded["references"].astype(np.int64), encoded["offsets"].astype(np.float64)
    for mine, reference, offset in zip(regret, references.tolist(), offsets.tolist(), strict=True):
        name = "rewards" if reference == ALONE else "reward_residuals"
        bits, parts[name] = parts[name][: len(mine)], parts[name][len(mine) :]
        if reference != ALONE:
            predicted = _predict(rewards[reference], regret[reference], mine, offset)
            if predicted is None:
                raise ValueError("Expected a reference that is long enough.")
            bits = from_residuals(bits, predicted)
        rewards.append(bits.view(np.float64))
    return rewards


def _offset_between(reference: Row, row: Row) -> float:
    """Return mu(G*) of a row less mu(G*) of its reference, as far as rewards tell; 0 if they tell nothing."""
    n = min(len(row["rewards"]), len(reference["rewards"]))
    with np.errstate(all="ignore"):
        best, other = (part["rewards"][:n] + part["regret"][:n] for part in (row, reference))
        offset = float(np.median(best - other)) if n else 0.0
    return offset if np.isfinite(offset) else 0.0


def _predict(
    rewards: NDArray[np.float64], regret: NDArray[np.float64], mine: NDArray[np.float64], offset: float
) -> NDArray[np.float64] | None:
    """Return rewards with the noise of a reference; None if that has fewer rounds. IEEE: equal on every machine."""
    if len(rewards) < len(mine):
        return None
    with np.errstate(all="ignore"):
        predicted: NDArray[np.float64] = rewards[: len(mine)] + ((regret[: len(mine)] - mine) + offset)
    return predicted


def _encode_diagnostics(rows: Sequence[Row]) -> Encoded:
    recorded = [row["diagnostics"] or {} for row in rows]
    lengths = [len(array) for arrays in recorded for array in arrays.values()]
    names = sorted({name for arrays in recorded for name in arrays})
    encoded: Encoded = {"diagnostic_lengths": np.array(lengths, np.int64)}
    for name in names:
        encoded[f"diagnostic_{name}"] = to_planes(_join([arrays[name] for arrays in recorded if name in arrays]))
    return encoded


def _decode_diagnostics(
    encoded: Encoded, names: Sequence[Sequence[str] | None]
) -> list[dict[str, NDArray[np.float64]] | None]:
    lengths = iter(encoded["diagnostic_lengths"].astype(np.int64).tolist())
    left = {name: _unpack(encoded, f"diagnostic_{name}") for name in {k for some in names for k in some or ()}}
    decoded: list[dict[str, NDArray[np.float64]] | None] = []
    for some in names:
        arrays = {}
        for name in some or ():
            length = next(lengths)
            arrays[name], left[name] = left[name][:length].view(np.float64), left[name][length:]
        decoded.append(None if some is None else arrays)
    return decoded


def _unpack(encoded: Encoded, name: str) -> Bits:
    return from_planes(encoded[name].astype(np.uint8))


def _join(parts: Sequence[NDArray[np.generic]]) -> Bits:
    """Return the bits of arrays, one after the other."""
    return np.concatenate([np.zeros(0, np.uint64), *(np.ascontiguousarray(part).view(np.uint64) for part in parts)])


def _split(bits: Bits, lengths: NDArray[np.int64]) -> list[Bits]:
    ends = list(accumulate(lengths.tolist(), initial=0))
    return [bits[begin:end] for begin, end in pairwise(ends)]
