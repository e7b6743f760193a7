"""Choose what to measure next from a pool of graphs, and take in what came back."""

import _graph_bandit_strangers  # noqa: F401 - refuses to run beside another `agents` or `registry`
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.state import Suggestion
from graph_bandit_campaign.suggest import suggest

__all__ = ["Campaign", "Suggestion", "suggest"]
