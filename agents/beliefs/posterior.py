"""The exact posterior of a Gaussian process: in dual form for few results, in primal form for few features."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

BLOCK = 4096  # graphs whose covariances with the played graphs are in memory at a time
TOGETHER = 1000  # graphs whose joint covariances are computed at a time


class Kernel(Protocol):
    """A positive semi-definite function of two graphs, given by their indices in a set."""

    def columns(self, rows: Tensor, index: Tensor) -> Tensor:
        """Return the kernel between two lists of graphs.

        Args:
            rows: `(q,)` int64. Graphs of the rows.
            index: `(n,)` int64. Graphs of the columns.

        Returns:
            `(q, n)` float64.
        """

    def diagonal(self, index: Tensor) -> Tensor:
        """Return the kernel of each of the graphs `index` `(n,)` with itself, `(n,)` float64."""


class DualPosterior:
    """Condition N(0, k) on the mean rewards of q graphs: O(q^3) once, and O(q^2) for each graph evaluated.

        L L^T = k(seen, seen) + n diag(1 / counts),   E = L^{-1} k(seen, .)
        m = E^T L^{-1} y,   C = k - E^T E      [Rasmussen & Williams 2006, Alg. 2.1]

    Attributes:
        factor: L, `(q, q)` float64.

    Args:
        kernel: kernel of the set.
        noise: n, the noise variance, in squared units of the targets.
        seen: `(q,)` int64. Graphs played, each listed once, or once for every result with an individual noise.
        counts: `(q,)`. Number of rewards of each, or the sum of their weights. n / n_i for a result with noise n_i.
        targets: `(q,)` float64. Mean target of each.

    Raises:
        LinAlgError: if kernel and noise are not positive definite in float64 on the graphs played.
    """

    def __init__(self, kernel: Kernel, noise: float, seen: Tensor, counts: Tensor, targets: Tensor) -> None:
        self.kernel, self.noise = kernel, noise
        self.seen, self.counts, self.targets = seen, counts, targets
        inner = kernel.columns(seen, seen)
        inner = (inner + inner.T) / 2
        rounding = torch.finfo(inner.dtype).eps * inner.trace()  # error of a kernel's eigenvalues, which may be 0
        inner.diagonal().add_(noise / counts.double() + rounding)
        self.factor = torch.linalg.cholesky(inner)
        self._whitened = _solve(self.factor, targets.unsqueeze(1)).squeeze(1)

    @property
    def dual(self) -> DualPosterior:
        """Return itself, for the interface of `PrimalPosterior`."""
        return self

    def extended(self, graph: int, explained: Tensor, count: float, target: float) -> DualPosterior:
        """Return the posterior given one more result, in O(q^2).

            L' = [[L, 0], [e^T, p]],   e = L^{-1} k(seen, a),   p^2 = k(a, a) - |e|^2 + n / count

        Args:
            graph: a, the graph of the result, which may have other results.
            explained: e, `(q,)` float64, as `explained` returned it for this graph.
            count: as in the constructor.
            target: as in the constructor.
        """
        own = self.kernel.diagonal(torch.tensor([graph]))[0]
        pivot = ((own - explained @ explained).clamp(min=0) + self.noise / count).sqrt()
        longer, size = copy.copy(self), len(self.seen)
        longer.factor = torch.nn.functional.pad(self.factor, (0, 1, 0, 1))
        longer.factor[size, :size], longer.factor[size, size] = explained, pivot
        longer.seen = torch.cat([self.seen, self.seen.new_tensor([graph])])
        longer.counts = torch.cat([self.counts.double(), self.factor.new_tensor([count])])
        longer.targets = torch.cat([self.targets, self.targets.new_tensor([target])])
        surprise = (target - explained @ self._whitened) / pivot
        longer._whitened = torch.cat([self._whitened, surprise.unsqueeze(0)])
        return longer

    def within(self, kernel: Kernel, seen: Tensor) -> DualPosterior:
        """Return this posterior for another set of graphs that contains the played ones.

        Args:
            kernel: kernel of that set, with the same values between the graphs played.
            seen: `(q,)` int64. Positions of the played graphs in that set.
        """
        moved = copy.copy(self)
        moved.kernel, moved.seen = kernel, seen
        return moved

    def explained(self, index: Tensor) -> Tensor:
        """Return E of the graphs `index` `(n,)`: `(q, n)` float64."""
        return _solve(self.factor, self.kernel.columns(self.seen, index))

    def mean_of(self, explained: Tensor) -> Tensor:
        """Return m `(n,)` of graphs, given the result `(q, n)` of `explained` for them."""
        return explained.T @ self._whitened

    def mean_and_variance(self, index: Tensor, at_a_time: int = BLOCK) -> tuple[Tensor, Tensor]:
        """Return means and variances of the graphs `index` `(n,)`, `(n,)` float64 each, computed in blocks."""
        blocks = (Marginals(self, block) for block in index.split(at_a_time))
        means, variances = zip(*((block.mean, block.variance) for block in blocks), strict=True)
        return torch.cat(means), torch.cat(variances)

    def dual_weights(self) -> Tensor:
        """Return alpha = A^{-1} y `(q,)`, A = L L^T, with m = k(., seen) alpha."""
        return _solve(self.factor.T, self._whitened.unsqueeze(1), upper=True).squeeze(1)

    def target_weights(self, index: Tensor) -> Tensor:
        """Return A^{-1} k(seen, .) of the graphs `index` `(n,)`, `(q, n)`: the weights of y in their means."""
        return _solve(self.factor.T, self.explained(index), upper=True)

    def covariance(self, index: Tensor) -> Tensor:
        """Return the joint covariance C of the graphs `index` `(n,)`, `(n, n)` float64."""
        explained = self.explained(index)
        within = self.kernel.columns(index, index)
        return (within + within.T) / 2 - explained.T @ explained

    def joint(self, groups: Tensor) -> tuple[Tensor, Tensor]:
        """Return the joint means and covariances of several groups of graphs.

        Args:
            groups: `(..., n)` int64. Groups of n graphs, which may be equal.

        Returns:
            `(..., n)` and `(..., n, n)` float64.
        """
        rows, size = groups.reshape(-1, groups.shape[-1]), groups.shape[-1]
        means, covariances = [], []
        for part in rows.split(max(1, TOGETHER // size)):
            graphs, place = part.unique(return_inverse=True)
            explained = self.explained(graphs)
            means.append(self.mean_of(explained)[place])
            covariances.append(self.covariance(graphs)[place.unsqueeze(-1), place.unsqueeze(-2)])
        return torch.cat(means).reshape(groups.shape), torch.cat(covariances).reshape(*groups.shape, size)

    def root(self, prior: Tensor) -> Tensor:
        """Return a root of the joint covariance of all graphs, in O(q K^2), from one of the prior covariance.

        Draws f from the prior and noises e become draws from the centred posterior:

            f - E^T L^{-1} (f(seen) + e),   e ~ N(0, n diag(1 / counts))      [Matheron; Wilson et al. 2021, Eq. 10]

        They are linear in f = R_0 z and e = sqrt(N) z', so draws are insensitive to rounding.

        Args:
            prior: R_0, `(K, r)` float64.

        Returns:
            `(K, r + q)` float64. R, with R R^T = C.
        """
        noise = (self.noise / self.counts.double()).sqrt().diag()
        draws = torch.cat([prior, prior.new_zeros(len(prior), len(noise))], dim=1)
        noises = torch.cat([prior.new_zeros(len(noise), prior.shape[1]), noise], dim=1)
        explained = self.explained(torch.arange(len(draws)))
        return draws - explained.T @ _solve(self.factor, draws[self.seen] + noises)


class PrimalPosterior:
    """Condition functions that are linear in d numbers: O(q d^2) once, and O(d^2) per graph for any number of results.

        f = phi^T w + o,   w ~ N(0, I),   o ~ N(0, u) for each graph by itself
        A = I + sum_i phi_i phi_i^T / (u + n_i),   w | y ~ N(A^{-1} sum_i phi_i y_i / (u + n_i), A^{-1})
        f_i | w, y ~ N((1 - s_i) phi_i^T w + s_i y_i, (1 - s_i) u),   s_i = u / (u + n_i), 0 without results

    [Rasmussen & Williams 2006, Eq. 2.8]

    Args:
        numbers: phi of all graphs, `(K, d)` float64.
        own: u >= 0.
        kernel: phi^T phi' + u 1[x = x'].
        noise, seen, counts, targets: as for `DualPosterior`, with each graph once.
    """

    def __init__(
        self, numbers: Tensor, own: float, kernel: Kernel, noise: float, seen: Tensor, counts: Tensor, targets: Tensor
    ) -> None:
        self.kernel, self.seen = kernel, seen
        self._results = noise, seen, counts, targets
        together = own + noise / counts.double()
        share = numbers.new_zeros(len(numbers)).index_put((seen,), own / together)
        pulled = share.index_put((seen,), share[seen] * targets)
        rows = together.rsqrt().unsqueeze(1) * numbers[seen]
        factor = torch.linalg.cholesky(rows.T @ rows + torch.eye(numbers.shape[1], dtype=torch.float64))
        weights = _solve(factor, (rows.T @ (together.rsqrt() * targets)).unsqueeze(1)).squeeze(1)
        self._shared = _solve(factor, ((1 - share).unsqueeze(1) * numbers).T).T
        self._mean, self._own = self._shared @ weights + pulled, own * (1 - share)

    @cached_property
    def dual(self) -> DualPosterior:
        """Return the same posterior in dual form, which supports joint covariances and further results."""
        return DualPosterior(self.kernel, *self._results)

    def mean_and_variance(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and variances of the graphs `index` `(n,)`, `(n,)` float64 each."""
        return self._mean[index], self._shared[index].square().sum(1) + self._own[index]

    def root(self, index: Tensor, less: float = 0.0) -> Tensor:
        """Return a root of the joint covariance of the graphs `index` `(n,)`, `(n, d + n)`.

        Variances are reduced by `less`, at most u, or by the remaining part of u for graphs with results.
        """
        return torch.cat([self._shared[index], (self._own[index] - less).clamp(min=0).sqrt().diag()], dim=1)


class Marginals:
    """Posterior means and variances of n graphs, updated in O(q n) per additional result.

        e = (k(a, .) - E_a^T E) / p,   m <- m + e (y - m_a) / p,   v <- v - e^2,   p as in `DualPosterior.extended`
        [Rasmussen & Williams 2006, Eqs. 2.25 and 2.26, one y at a time]

    Args:
        posterior: the posterior.
        index: `(n,)` int64. The graphs.

    Attributes:
        explained: E of the graphs, `(q, n)` float64.
        mean: `(n,)` float64.
        variance: `(n,)` float64.
    """

    def __init__(self, posterior: DualPosterior, index: Tensor) -> None:
        self.posterior, self.index, self.explained = posterior, index, posterior.explained(index)
        self.mean = posterior.mean_of(self.explained)
        self.variance = (posterior.kernel.diagonal(index) - self.explained.square().sum(0)).clamp(min=0)

    def given(self, position: int, count: float, target: float) -> Marginals:
        """Return the moments given one more result of graph `index[position]` (see `DualPosterior`)."""
        explained, graph = self.explained, self.index[position : position + 1]
        own = explained[:, position].contiguous()
        longer = copy.copy(self)
        longer.posterior = self.posterior.extended(int(graph), own, count, target)
        pivot = longer.posterior.factor[-1, -1]
        covariance = self.posterior.kernel.columns(graph, self.index)[0]
        row = (covariance - own @ explained) / pivot
        longer.explained = torch.cat([explained, row.unsqueeze(0)])
        longer.mean = self.mean + row * ((target - self.mean[position]) / pivot)
        longer.variance = (self.variance - row.square()).clamp(min=0)
        return longer


def _solve(factor: Tensor, right: Tensor, upper: bool = False) -> Tensor:
    solved: Tensor = torch.linalg.solve_triangular(factor, right, upper=upper)
    return solved
