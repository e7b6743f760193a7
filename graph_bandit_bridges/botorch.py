"""BoTorch: the exact posterior of an agent as a model over the indices of a pool's graphs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

import numpy as np
import torch
from torch import Tensor

from agents.beliefs.rewards import NormalScores
from agents.process import ProcessAgent
from graph_bandit_env.extras import require

require("botorch", "`PoolModel`")

from botorch.models.model import FantasizeMixin, Model, ModelList  # noqa: E402 - after the check for the extra
from botorch.posteriors import GPyTorchPosterior, Posterior, TransformedPosterior  # noqa: E402
from gpytorch.constraints import Positive  # noqa: E402
from gpytorch.distributions import MultivariateNormal  # noqa: E402
from gpytorch.likelihoods import GaussianLikelihood  # noqa: E402
from linear_operator.operators import DenseLinearOperator  # noqa: E402

if TYPE_CHECKING:
    from botorch.acquisition.objective import PosteriorTransform

    from agents.contract import Agent
    from graph_bandit_campaign import Campaign

Units: TypeAlias = Literal["rewards", "targets"]


@dataclass(frozen=True, eq=False)
class FantasizedResults:
    """Additional results that a model is conditioned on, such as fantasies."""

    index: Tensor
    """`(..., n)` int64. The graphs."""
    targets: Tensor
    """`(..., n)` float64, with at least as many dimensions as `index`. The results as targets."""
    noises: Tensor
    """`(..., n)` float64. Noise variances, in squared units of the targets."""

    def joined(self, later: FantasizedResults) -> FantasizedResults:
        """Concatenate these results and later ones."""
        index, targets = join(self.index, later.index), join(self.targets, later.targets)
        return FantasizedResults(index, targets, join(self.noises, later.noises))


class PoolModel(Model, FantasizeMixin):
    """BoTorch model with the exact posterior of an agent's Gaussian process over the graphs of its set.

    X contains indices of graphs, `(..., q, 1)`. For all K graphs, pass `torch.arange(K).double().unsqueeze(1)` as
    `choices` to `optimize_acqf_discrete`. There is no gradient in X. All tensors are float64 on the CPU.

    The model predicts rewards, which are maximized: the values, or minus the values if a campaign minimizes. Some
    agents, such as the defaults of campaigns, model normal scores of ranks (`warp="normal_scores"`). Their posterior in
    units of rewards is a `TransformedPosterior` with the mean, variance and samples of the rewards. With
    `units="targets"`, the posterior is Gaussian for every agent, and an acquisition function makes the same choices as
    the agent's rule of that name.

    Weights, noise and scale remain those of the agent: `condition_on_observations` and `fantasize` do not refit them.
    A model is not updated with its agent. Create a new one after further results.

    Args:
        agent: a trained agent with an exact process on one graph set: `gp-`, `molecule-`, `gntk-`, `wl-` or `lin-`.
        units: units of the predictions: "rewards", or "targets" for the scale on which the agent models them.

    Raises:
        MissingExtraError: if BoTorch is not installed.
        ValueError: if the agent has no exact process or plays changing graphs, or the units are unknown.
        RuntimeError: before the first `reset` of the agent.
    """

    num_outputs = 1

    def __init__(self, agent: Agent, units: Units = "rewards") -> None:
        super().__init__()
        if units not in ("rewards", "targets"):
            raise ValueError(f'Expected `units` to be "rewards" or "targets". Got {units!r}.')
        if not isinstance(agent, ProcessAgent):
            known = "`gp-`, `molecule-`, `gntk-`, `wl-` or `lin-`"
            raise ValueError(f"Expected an agent with an exact process: {known}. Got {type(agent).__name__}.")
        agent.check_reset()
        if agent.offered is not None:
            raise ValueError("Expected an agent that plays one graph set. Got one whose graphs change.")
        self.num_graphs = agent.num_graphs
        self._posterior, self._targets = agent.posterior, agent.targets
        self._is_warped = units == "rewards" and isinstance(agent.targets, NormalScores)
        self._in_rewards = units == "rewards"
        self._unit = agent.targets.unit if self._in_rewards and not self._is_warped else 1.0
        self._noise = agent.result_noise
        self._fantasized: FantasizedResults | None = None
        self.likelihood = GaussianLikelihood(noise_constraint=Positive()).double()
        self.likelihood.noise = self._noise * self._unit**2

    @property
    def batch_shape(self) -> torch.Size:
        """Return the batch shape of the model, from fantasies."""
        return torch.Size() if self._fantasized is None else self._fantasized.targets.shape[:-1]

    def posterior(
        self,
        X: Tensor,
        output_indices: Sequence[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: PosteriorTransform | None = None,
    ) -> Posterior:
        """Return the joint posterior of the mean rewards of some graphs.

        Args:
            X: `(..., q, 1)`. Indices of graphs.
            output_indices: None, or the only output 0.
            observation_noise: True adds the noise of one result per graph. A tensor `(..., q, 1)` adds these variances,
                in squared units of the model, or of the targets if rewards are modelled by rank.
            posterior_transform: optional transform of the posterior.

        Raises:
            ValueError: if X does not contain indices of graphs, or there is no such output.
        """
        self.subset_output([0] if output_indices is None else output_indices)
        mean, covariance = self._joint(self._read(X))
        if observation_noise is not False:
            given = observation_noise
            noises = torch.full_like(mean, self._noise) if given is True else self._noises(given)
            covariance = covariance + torch.diag_embed(noises.expand_as(mean))
        if self._in_rewards and not self._is_warped:
            mean, covariance = self._targets.to_rewards(mean), self._unit**2 * covariance
        posterior = GPyTorchPosterior(MultivariateNormal(mean, DenseLinearOperator(covariance)))  # factorized lazily
        if self._is_warped:
            posterior = TransformedPosterior(
                posterior,
                self._targets.to_rewards,
                lambda mean, variance: self._moments(mean, variance)[0],
                lambda mean, variance: self._moments(mean, variance)[1].square(),
            )
        return posterior if posterior_transform is None else posterior_transform(posterior)

    def condition_on_observations(self, X: Tensor, Y: Tensor, noise: Tensor | None = None) -> Self:
        """Condition the model on more results, with fixed weights, noise and scale.

            m' = m + C(., X) (C(X, X) + N)^{-1} (y - m(X)),   C' = C - C(., X) (C(X, X) + N)^{-1} C(X, .)
            [Rasmussen & Williams 2006, Eqs. 2.23 and 2.24, with the posterior as the prior]

        Args:
            X: `(..., n, 1)`. Indices of graphs. A graph may have several results.
            Y: `(..., n, 1)`. Rewards in units of the model. Extra leading dimensions make a batch of models.
            noise: `(..., n, 1)`. Noise variances, as in `posterior`. If None, the noise of one result.

        Raises:
            ValueError: if X does not contain indices of graphs.
        """
        index, values = self._read(X), Y.double().squeeze(-1)
        values = values.expand(*torch.broadcast_shapes(values.shape[:-1], index.shape[:-1]), values.shape[-1])
        targets = self._targets.of(values) if self._in_rewards else values
        noises = torch.full_like(targets, self._noise) if noise is None else self._noises(noise).expand_as(targets)
        more = FantasizedResults(index, targets, noises)
        conditioned = copy.copy(self)  # parts are shared, as nothing is changed in place
        conditioned._fantasized = more if self._fantasized is None else self._fantasized.joined(more)
        return conditioned

    def subset_output(self, idcs: Sequence[int]) -> Self:
        """Return the model itself, as it has one output.

        Raises:
            ValueError: if another output is requested.
        """
        if [*idcs] not in ([0], [-1]):
            raise ValueError(f"Expected output 0, the only one. Got {list(idcs)}.")
        return self

    def _read(self, X: Tensor) -> Tensor:
        """Return the indices in X, `(..., q)` int64."""
        if X.ndim < 2 or X.shape[-1] != 1:
            raise ValueError(f"Expected `X` of shape `(..., q, 1)`, indices of graphs. Got `{tuple(X.shape)}`.")
        index = X.squeeze(-1).round().long()
        wrong = (index.to(X) != X.squeeze(-1)) | (index < 0) | (index >= self.num_graphs)
        if wrong.any():
            first = X.squeeze(-1)[wrong][0].item()
            raise ValueError(f"Expected `X` to hold integers from 0 to {self.num_graphs - 1}. Got {first:g}.")
        return index

    def _noises(self, noise: Tensor) -> Tensor:
        return noise.double().squeeze(-1) / self._unit**2

    def _moments(self, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean and standard deviation of the rewards for normal targets of any shape."""
        moments = self._targets.moments(mean.flatten(), variance.sqrt().flatten())
        return moments[0].view_as(mean), moments[1].view_as(mean)

    def _joint(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean `(..., q)` and covariance `(..., q, q)` of the targets of graphs `(..., q)`."""
        if self._fantasized is None:
            return self._posterior.joint(index)
        mean, covariance = self._posterior.joint(join(self._fantasized.index, index))
        return condition(mean, covariance, self._fantasized.targets, self._fantasized.noises)


@dataclass(frozen=True, eq=False)
class CampaignPoints:
    """The graphs of a campaign as inputs of a `PoolModel`."""

    ids: tuple[str, ...]
    """Id of each graph, by index."""
    measured: Tensor
    """`(q, 1)` float64. Graphs with a result for each goal: `X_baseline` of BoTorch."""
    pending: Tensor
    """`(p, 1)` float64. Pending graphs: `X_pending`."""
    choices: Tensor
    """`(n, 1)` float64. Graphs that can be suggested: `choices` of `optimize_acqf_discrete`."""

    @classmethod
    def of(cls, campaign: Campaign, among: Sequence[bool] | None = None) -> Self:
        """Return the points of a campaign.

        Args:
            campaign: the campaign.
            among: `(K,)` bool. Graphs that can be suggested. If None, all that the campaign can suggest.
        """
        index_of = {key: k for k, key in enumerate(campaign.ids)}
        groups = [campaign.state.settled(), campaign.state.pending]
        known = [[index_of[key] for key in keys if key in index_of] for keys in groups]
        choices = np.flatnonzero(campaign.on_offer(among)).tolist()
        return cls(campaign.ids, *(torch.tensor(index).double().unsqueeze(1) for index in (*known, choices)))

    def names(self, candidates: Tensor) -> list[str]:
        """Return the ids of the graphs `(..., 1)` that BoTorch chose."""
        return [self.ids[int(k)] for k in candidates.flatten().tolist()]


def campaign_model(campaign: Campaign, units: Units = "rewards") -> Model:
    """Return the model of a campaign: a `PoolModel`, or a `ModelList` of one per goal for several goals.

    The agents of several goals are independent. The models predict minus the values for minimized goals, and the values
    for all others, including limits and ranges.

    Args:
        campaign: a campaign whose agent has an exact process.
        units: as in `PoolModel`.
    """
    models = [PoolModel(campaign.model(name), units) for name in [goal.name for goal in campaign.state.goals] or [""]]
    return models[0] if len(models) == 1 else ModelList(*models)


def condition(mean: Tensor, covariance: Tensor, targets: Tensor, noises: Tensor) -> tuple[Tensor, Tensor]:
    """Condition normal variables on noisy values of the first n, as in `condition_on_observations`.

    Args:
        mean: `(..., n + q)` float64.
        covariance: `(..., n + q, n + q)` float64.
        targets: `(..., n)` float64. The values.
        noises: `(..., n)` float64. The noise variances.

    Returns:
        Means `(..., q)` and covariances `(..., q, q)` of the others, with leading dimensions broadcast.
    """
    size = targets.shape[-1]
    inner, cross, rest = covariance[..., :size, :size], covariance[..., :size, size:], covariance[..., size:, size:]
    rounding = torch.finfo(inner.dtype).eps * inner.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
    factor = torch.linalg.cholesky(inner + torch.diag_embed(noises + rounding))  # L L^T = C(X, X) + N
    explained = torch.linalg.solve_triangular(factor, cross, upper=False)
    surprise = torch.linalg.solve_triangular(factor, (targets - mean[..., :size]).unsqueeze(-1), upper=False)
    means = mean[..., size:] + (explained.mT @ surprise).squeeze(-1)
    covariances = (rest - explained.mT @ explained).expand(*means.shape, means.shape[-1])
    return means, covariances


def join(first: Tensor, second: Tensor) -> Tensor:
    """Concatenate tensors `(..., n)` and `(..., q)` to `(..., n + q)`, with leading dimensions broadcast."""
    batch = torch.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    return torch.cat([part.expand(*batch, part.shape[-1]) for part in (first, second)], dim=-1)
