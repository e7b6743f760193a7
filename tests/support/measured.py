"""A campaign with some results, and its posterior in textbook form."""

import numpy as np
import torch

from graph_bandit_campaign import Campaign
from support.molecules import some_molecules
from support.posterior import from_scratch

POOL = some_molecules(40)
VALUES = dict(zip(POOL.ids, POOL.targets.tolist(), strict=True))
WEIGHTS = {key: float(len(text)) for key, text in zip(POOL.ids, POOL.smiles, strict=True)}
LINEAR, RANKED = "molecule-ucb:warp=none", "molecule-ucb"


def measured(agent=LINEAR, keys=POOL.ids[::4], **settings):
    """A campaign with some results."""
    campaign = Campaign(POOL, agent, **settings)
    campaign.tell({key: VALUES[key] for key in keys})
    return campaign


def dense_posterior(agent, index):
    """Mean and covariance of targets in textbook form."""
    posterior, every, index = agent.posterior, torch.arange(len(POOL)), np.asarray(index)
    kernel, noise = posterior.kernel.columns(every, every).numpy(), posterior.noise / posterior.counts.numpy()
    mean, covariance = from_scratch(kernel, noise, posterior.seen.numpy(), posterior.targets.numpy())
    return mean[index], covariance[np.ix_(index, index)]
