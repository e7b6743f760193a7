"""Compiled loops of the network of depth 2: all results of a graph in one pass over its nodes.

At L = 2 the sums over the nodes that switch on each hidden unit are sufficient:

    A_j = sum_i 1[<W_j, h_i> > 0] h_i,     r_j = <W_j, A_j> = sum_i ReLU(<W_j, h_i>)
    f = sum_j w_j r_j / (N sqrt(m)),   df/dW_j = w_j A_j / (N sqrt(m)),   df/dw_j = r_j / (N sqrt(m))

A does not depend on the residual, so one pass gives both prediction and gradient. Weights are stored as `(d, m)`, so
that inner loops run over the m hidden units. Loops are unrolled by hand over four nodes and up to four features, which
LLVM does not do at this size, so that loads and stores stay fewer than multiplications.

`graphs` are `gntk.engines.compiled.PaddedGraphs`. `theta` is a pair of W and w, and `scratch` holds A, r and the hidden
units of four nodes. All arrays are C-contiguous. Those of width m should begin at a cache line, as torch's do.
"""

from __future__ import annotations

import math

import numpy as np

from gntk.compilation import compile_loop

NODES = 4  # nodes processed at a time; the node count of every graph is a multiple of it, and d is even
ZERO = np.float32(0)


@compile_loop
def _forward_four(nodes, i, k, weights, units, first):  # type: ignore[no-untyped-def]
    """Add four features of four nodes to their hidden units."""
    w0, w1, w2, w3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
    u0, u1, u2, u3 = units[0], units[1], units[2], units[3]
    a0, a1, a2, a3 = nodes[i, k], nodes[i, k + 1], nodes[i, k + 2], nodes[i, k + 3]
    b0, b1, b2, b3 = nodes[i + 1, k], nodes[i + 1, k + 1], nodes[i + 1, k + 2], nodes[i + 1, k + 3]
    c0, c1, c2, c3 = nodes[i + 2, k], nodes[i + 2, k + 1], nodes[i + 2, k + 2], nodes[i + 2, k + 3]
    e0, e1, e2, e3 = nodes[i + 3, k], nodes[i + 3, k + 1], nodes[i + 3, k + 2], nodes[i + 3, k + 3]
    if first:
        for j in range(len(w0)):
            u0[j] = a0 * w0[j] + a1 * w1[j] + a2 * w2[j] + a3 * w3[j]
            u1[j] = b0 * w0[j] + b1 * w1[j] + b2 * w2[j] + b3 * w3[j]
            u2[j] = c0 * w0[j] + c1 * w1[j] + c2 * w2[j] + c3 * w3[j]
            u3[j] = e0 * w0[j] + e1 * w1[j] + e2 * w2[j] + e3 * w3[j]
    else:
        for j in range(len(w0)):
            u0[j] += a0 * w0[j] + a1 * w1[j] + a2 * w2[j] + a3 * w3[j]
            u1[j] += b0 * w0[j] + b1 * w1[j] + b2 * w2[j] + b3 * w3[j]
            u2[j] += c0 * w0[j] + c1 * w1[j] + c2 * w2[j] + c3 * w3[j]
            u3[j] += e0 * w0[j] + e1 * w1[j] + e2 * w2[j] + e3 * w3[j]


@compile_loop
def _forward_two(nodes, i, k, weights, units, first):  # type: ignore[no-untyped-def]
    """Add two features of four nodes to their hidden units."""
    w0, w1 = weights[k], weights[k + 1]
    u0, u1, u2, u3 = units[0], units[1], units[2], units[3]
    a0, a1 = nodes[i, k], nodes[i, k + 1]
    b0, b1 = nodes[i + 1, k], nodes[i + 1, k + 1]
    c0, c1 = nodes[i + 2, k], nodes[i + 2, k + 1]
    e0, e1 = nodes[i + 3, k], nodes[i + 3, k + 1]
    if first:
        for j in range(len(w0)):
            u0[j], u1[j] = ZERO, ZERO
            u2[j], u3[j] = ZERO, ZERO
    for j in range(len(w0)):
        u0[j] += a0 * w0[j] + a1 * w1[j]
        u1[j] += b0 * w0[j] + b1 * w1[j]
        u2[j] += c0 * w0[j] + c1 * w1[j]
        u3[j] += e0 * w0[j] + e1 * w1[j]


@compile_loop
def _backward_four(nodes, i, k, units, sums):  # type: ignore[no-untyped-def]
    """Add four features of four nodes to the sums of the hidden units that they switch on."""
    s0, s1, s2, s3 = sums[k], sums[k + 1], sums[k + 2], sums[k + 3]
    u0, u1, u2, u3 = units[0], units[1], units[2], units[3]
    a0, a1, a2, a3 = nodes[i, k], nodes[i, k + 1], nodes[i, k + 2], nodes[i, k + 3]
    b0, b1, b2, b3 = nodes[i + 1, k], nodes[i + 1, k + 1], nodes[i + 1, k + 2], nodes[i + 1, k + 3]
    c0, c1, c2, c3 = nodes[i + 2, k], nodes[i + 2, k + 1], nodes[i + 2, k + 2], nodes[i + 2, k + 3]
    e0, e1, e2, e3 = nodes[i + 3, k], nodes[i + 3, k + 1], nodes[i + 3, k + 2], nodes[i + 3, k + 3]
    for j in range(len(s0)):
        a, b, c, e = u0[j] > ZERO, u1[j] > ZERO, u2[j] > ZERO, u3[j] > ZERO
        s0[j] += (a0 if a else ZERO) + (b0 if b else ZERO) + (c0 if c else ZERO) + (e0 if e else ZERO)
        s1[j] += (a1 if a else ZERO) + (b1 if b else ZERO) + (c1 if c else ZERO) + (e1 if e else ZERO)
        s2[j] += (a2 if a else ZERO) + (b2 if b else ZERO) + (c2 if c else ZERO) + (e2 if e else ZERO)
        s3[j] += (a3 if a else ZERO) + (b3 if b else ZERO) + (c3 if c else ZERO) + (e3 if e else ZERO)


@compile_loop
def _backward_two(nodes, i, k, units, sums):  # type: ignore[no-untyped-def]
    """Add two features of four nodes to the sums of the hidden units that they switch on."""
    s0, s1 = sums[k], sums[k + 1]
    u0, u1, u2, u3 = units[0], units[1], units[2], units[3]
    a0, a1 = nodes[i, k], nodes[i, k + 1]
    b0, b1 = nodes[i + 1, k], nodes[i + 1, k + 1]
    c0, c1 = nodes[i + 2, k], nodes[i + 2, k + 1]
    e0, e1 = nodes[i + 3, k], nodes[i + 3, k + 1]
    for j in range(len(s0)):
        a, b, c, e = u0[j] > ZERO, u1[j] > ZERO, u2[j] > ZERO, u3[j] > ZERO
        s0[j] += (a0 if a else ZERO) + (b0 if b else ZERO) + (c0 if c else ZERO) + (e0 if e else ZERO)
        s1[j] += (a1 if a else ZERO) + (b1 if b else ZERO) + (c1 if c else ZERO) + (e1 if e else ZERO)


@compile_loop
def _pass_over(graphs, graph, theta, scratch):  # type: ignore[no-untyped-def]
    """Fill A and r of one graph, and return f."""
    nodes, divisor = graphs.nodes, graphs.divisors[graph]
    hidden, last = theta
    sums, lengths, units = scratch
    d, m = hidden.shape
    sums[:] = ZERO
    for i in range(graphs.starts[graph], graphs.starts[graph + 1], NODES):
        k = 0
        while k + 4 <= d:
            _forward_four(nodes, i, k, hidden, units, k == 0)
            k += 4
        if k < d:
            _forward_two(nodes, i, k, hidden, units, k == 0)
        k = 0
        while k + 4 <= d:
            _backward_four(nodes, i, k, units, sums)
            k += 4
        if k < d:
            _backward_two(nodes, i, k, units, sums)
    lengths[:] = ZERO
    for k in range(d):
        for j in range(m):
            lengths[j] += hidden[k, j] * sums[k, j]
    value = ZERO
    for j in range(m):
        value += last[j] * lengths[j]
    return value / (divisor * np.float32(math.sqrt(m)))


@compile_loop
def descend(theta, centers, graphs, batches, learning_rate, penalty, scratch):  # type: ignore[no-untyped-def]
    """Take one step of gradient descent per batch, in place (see `CompiledNetwork.descend`)."""
    hidden, last = theta
    hidden_center, last_center = centers
    index, targets, offsets = batches
    sums, lengths, _ = scratch
    hidden_gradient, last_gradient = np.zeros_like(hidden), np.zeros_like(last)
    d, m = hidden.shape
    for s in range(len(offsets) - 1):
        hidden_gradient[:] = ZERO
        last_gradient[:] = ZERO
        size = offsets[s + 1] - offsets[s]
        for b in range(offsets[s], offsets[s + 1]):
            graph, earlier, later, wanted = index[b], False, 0, ZERO
            for other in range(offsets[s], offsets[s + 1]):
                if index[other] == graph:
                    earlier = earlier or other < b
                    later += 1
                    wanted += targets[other]
            if earlier:  # the gradient is linear in the targets: sum (f - y) = n f - sum y
                continue
            divisor = graphs.divisors[graph]
            value = _pass_over(graphs, graph, theta, scratch)
            factor = (np.float32(later) * value - wanted) / (divisor * np.float32(math.sqrt(m)) * np.float32(size))
            for k in range(d):
                for j in range(m):
                    hidden_gradient[k, j] += factor * sums[k, j]
            for j in range(m):
                last_gradient[j] += factor * lengths[j]
        for k in range(d):
            for j in range(m):
                step = hidden_gradient[k, j] * last[j] + penalty * (hidden[k, j] - hidden_center[k, j])
                hidden[k, j] -= learning_rate * step
        for j in range(m):
            last[j] -= learning_rate * (last_gradient[j] + penalty * (last[j] - last_center[j]))


@compile_loop
def evaluate(theta, graphs, index, scratch, values, columns):  # type: ignore[no-untyped-def]
    """Fill predictions and tangent features `(n, d + 1, m)` (see `CompiledNetwork.values_and_features`)."""
    last = theta[1]
    sums, lengths, _ = scratch
    m = len(last)
    d = columns.shape[1] - 1
    for n in range(len(index)):
        graph = index[n]
        values[n] = _pass_over(graphs, graph, theta, scratch)
        factor = np.float32(1) / (graphs.divisors[graph] * np.float32(math.sqrt(m)))
        for k in range(d):
            for j in range(m):
                columns[n, k, j] = factor * last[j] * sums[k, j]
        for j in range(m):
            columns[n, d, j] = factor * lengths[j]


@compile_loop
def score(theta, precision, graphs, scratch, values, squares):  # type: ignore[no-untyped-def]
    """Fill predictions and weighted squares (see `CompiledNetwork.values_and_squares`)."""
    last = theta[1]
    hidden_precision, last_precision = precision
    sums, lengths, _ = scratch
    d, m = hidden_precision.shape
    for graph in range(len(graphs.divisors)):
        values[graph] = _pass_over(graphs, graph, theta, scratch)
        factor = np.float32(1) / (graphs.divisors[graph] * np.float32(math.sqrt(m)))
        total = 0.0  # float64: a posterior variance is a small difference of these
        for k in range(d):
            for j in range(m):
                feature = np.float64(factor * last[j] * sums[k, j])
                total += feature * feature * hidden_precision[k, j]
        for j in range(m):
            feature = np.float64(factor * lengths[j])
            total += feature * feature * last_precision[j]
        squares[graph] = total
