"""Gradient descent with many visits of each graph: sums of a hidden unit are cached until its signs may have changed.

Between two visits of a graph, the steps move the weights little, and A_j (see `gntk.engines.loops`) depends on the
signs of <W_j, h_i> only. Let V_j be W_j as it was when A_j of the graph was computed, and s > 0 any number. Then

    |<W_j, h_i> - s <V_j, h_i>| <= |W_j - s V_j| max_i |h_i|                 [Cauchy-Schwarz]

so no sign has changed while |W_j - s V_j| max_i |h_i| < s min_i |<V_j, h_i>|, with a margin for rounding. A visit
recomputes A_j for the other units only. s follows the shrinking by a penalty centred at 0, which changes no sign.

This file contains all its loops (see `compile_loop`). Arrays are those of `gntk.engines.loops`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gntk.compilation import compile_loop

Floats = NDArray[np.float32]

ZERO = np.float32(0)
UNITS = 16  # hidden units are gathered in multiples of a vector
ROUNDING = np.float32(2.4e-7)  # per term of a sum of products: twice the error of float32, at two visits
LEAST_SCALE = np.float32(1e-3)


class Visits(NamedTuple):
    """Cached data of each graph that the batches visit.

    Attributes:
        blank: `(M',)`. Infinite for a node of zeros, which activates no unit, and 0 for the others.
        reach: `(K,)`. max_i |h_i| of each graph visited.
        slots: `(K,)` int64. The row of each graph in the following arrays.
        then: `(S, d', m)`. V.
        sums: `(S, d', m)`. A.
        room: `(S, m)`. The square of the largest |W_j / s - V_j| without a change of sign, 0 for a graph not yet seen.
        scratch: `(4, ...)`.
    """

    blank: Floats
    reach: Floats
    slots: NDArray[np.int64]
    then: Floats
    sums: Floats
    room: Floats
    scratch: Floats


@compile_loop
def _switch(nodes, blank, start, stop, weights, units, sums, least):  # type: ignore[no-untyped-def]
    """Fill A and min_i |<W_j, h_i>| of the units in the columns of `weights`, two nodes and features at a time."""
    sums[:] = ZERO
    least[:] = np.float32(np.inf)
    first, second = units[0], units[1]
    for i in range(start, stop, 2):
        first[:] = ZERO
        second[:] = ZERO
        for k in range(0, len(weights), 2):
            w0, w1 = weights[k], weights[k + 1]
            a0, a1, b0, b1 = nodes[i, k], nodes[i, k + 1], nodes[i + 1, k], nodes[i + 1, k + 1]
            for j in range(len(first)):
                first[j] += a0 * w0[j] + a1 * w1[j]
                second[j] += b0 * w0[j] + b1 * w1[j]
        for k in range(0, len(weights), 2):
            s0, s1 = sums[k], sums[k + 1]
            a0, a1, b0, b1 = nodes[i, k], nodes[i, k + 1], nodes[i + 1, k], nodes[i + 1, k + 1]
            for j in range(len(first)):
                a, b = first[j] > ZERO, second[j] > ZERO
                s0[j] += (a0 if a else ZERO) + (b0 if b else ZERO)
                s1[j] += (a1 if a else ZERO) + (b1 if b else ZERO)
        for j in range(len(first)):
            least[j] = min(least[j], min(abs(first[j]) + blank[i], abs(second[j]) + blank[i + 1]))


@compile_loop
def _find_stale(hidden, scale, then, room, moved, stale):  # type: ignore[no-untyped-def]
    """Fill the units that may have changed a sign, and return their number."""
    moved[:] = ZERO
    for k in range(len(hidden)):
        now, before = hidden[k], then[k]
        for j in range(len(now)):
            step = now[j] - scale * before[j]
            moved[j] += step * step
    square = scale * scale
    some = 0
    for j in range(len(moved)):
        some += not moved[j] < square * room[j]
    if some == 0:
        return 0
    count = 0
    for j in range(len(moved)):
        stale[count] = j
        count += not moved[j] < square * room[j]
    return count


@compile_loop
def _renew(graphs, graph, blank, reach, hidden, scale, stale, kept, scratch):  # type: ignore[no-untyped-def]
    """Recompute A, V and the room of some units."""
    then, sums, room = kept
    d, count = len(hidden), len(stale)
    n = (count + UNITS - 1) // UNITS * UNITS
    weights, totals = scratch[0, : d * n].reshape(d, n), scratch[1, : d * n].reshape(d, n)
    units, least = scratch[2, : 2 * n].reshape(2, n), scratch[3, :n]
    weights[:, count:] = ZERO
    for k in range(d):
        for c in range(count):
            weights[k, c] = hidden[k, stale[c]]
    _switch(graphs.nodes, blank, graphs.starts[graph], graphs.starts[graph + 1], weights, units, totals, least)
    for k in range(d):
        for c in range(count):
            then[k, stale[c]] = weights[k, c] / scale
            sums[k, stale[c]] = totals[k, c]
    for c in range(count):
        length = ZERO
        for k in range(d):
            length += weights[k, c] * weights[k, c]
        margin = max(least[c] / reach - ROUNDING * np.float32(d) * math.sqrt(length), ZERO) / scale
        room[stale[c]] = np.float32(0.9999) * margin * margin


@compile_loop
def _predict(hidden, last, sums, lengths):  # type: ignore[no-untyped-def]
    """Fill r, and return f without its divisor."""
    lengths[:] = ZERO
    for k in range(len(hidden)):
        row, switched = hidden[k], sums[k]
        for j in range(len(row)):
            lengths[j] += row[j] * switched[j]
    value = ZERO
    for j in range(len(last)):
        value += last[j] * lengths[j]
    return value


@compile_loop
def _add(hidden_gradient, last_gradient, sums, lengths, factor):  # type: ignore[no-untyped-def]
    """Add the gradient of a graph."""
    for k in range(len(sums)):
        row, switched = hidden_gradient[k], sums[k]
        for j in range(len(row)):
            row[j] += factor * switched[j]
    for j in range(len(lengths)):
        last_gradient[j] += factor * lengths[j]


@compile_loop
def _step(hidden, last, hidden_center, last_center, hidden_gradient, last_gradient, learning_rate, penalty):  # type: ignore[no-untyped-def]
    """Take a step, and clear the gradient."""
    for k in range(len(hidden)):
        row, gradient, center = hidden[k], hidden_gradient[k], hidden_center[k]
        for j in range(len(row)):
            row[j] -= learning_rate * (gradient[j] * last[j] + penalty * (row[j] - center[j]))
            gradient[j] = ZERO
    for j in range(len(last)):
        last[j] -= learning_rate * (last_gradient[j] + penalty * (last[j] - last_center[j]))
        last_gradient[j] = ZERO


@compile_loop
def descend_on_visits(theta, centers, graphs, batches, learning_rate, penalty, shrink, visits):  # type: ignore[no-untyped-def]
    """Take one step of gradient descent per batch, in place (see `CompiledNetwork.descend`).

    `shrink` is the factor by which each step shrinks all weights if it is positive and the centers are 0, otherwise 1.
    """
    hidden, last = theta
    hidden_center, last_center = centers
    index, targets, offsets = batches
    blank, reach, slots, then, sums, room, scratch = visits
    hidden_gradient, last_gradient, lengths = np.zeros_like(hidden), np.zeros_like(last), np.empty_like(last)
    m = len(last)
    stale = np.zeros(m + 1, np.int64)
    root = np.float32(math.sqrt(m))
    scale = np.float32(1)
    for s in range(len(offsets) - 1):
        size = np.float32(offsets[s + 1] - offsets[s])
        for b in range(offsets[s], offsets[s + 1]):
            graph, earlier, later, wanted = index[b], False, 0, ZERO
            for other in range(offsets[s], offsets[s + 1]):
                if index[other] == graph:
                    earlier = earlier or other < b
                    later += 1
                    wanted += targets[other]
            if earlier:  # the gradient is linear in the targets: sum (f - y) = n f - sum y
                continue
            slot, divisor = slots[graph], graphs.divisors[graph] * root
            count = _find_stale(hidden, scale, then[slot], room[slot], lengths, stale)
            if count:
                kept = then[slot], sums[slot], room[slot]
                _renew(graphs, graph, blank, reach[graph], hidden, scale, stale[:count], kept, scratch)
            value = _predict(hidden, last, sums[slot], lengths) / divisor
            factor = (np.float32(later) * value - wanted) / (divisor * size)
            _add(hidden_gradient, last_gradient, sums[slot], lengths, factor)
        _step(hidden, last, hidden_center, last_center, hidden_gradient, last_gradient, learning_rate, penalty)
        scale *= shrink
        if scale < LEAST_SCALE:
            scale = np.float32(1)
            room[:] = ZERO
