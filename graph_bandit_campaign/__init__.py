"""Choose what to measure next from a pool of graphs, and take in what came back."""

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.state import Suggestion
from graph_bandit_campaign.suggest import suggest

__all__ = ["Campaign", "Suggestion", "suggest"]
