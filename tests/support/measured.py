"""A campaign with some results, and its posterior in textbook form."""

import numpy as np
import torch

from graph_bandit_campaign import Campaign
from support.molecules import some_molecules

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
    """Mean and covariance of targets in textbook form, with the inverse matrix."""
    posterior = agent.posterior
    graphs = torch.as_tensor(index)
    kernel = posterior.kernel.columns(graphs, graphs).numpy()
    cross = posterior.kernel.columns(posterior.seen, graphs).numpy()
    inverse = np.linalg.inv(
        posterior.kernel.columns(posterior.seen, posterior.seen).numpy()
        + np.diag(posterior.noise / posterior.counts.double().numpy())
    )
    return cross.T @ inverse @ posterior.targets.numpy(), kernel - cross.T @ inverse @ cross
