"""Choose what to measure next from a pool of graphs, and take in what came back."""

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.library import write_library
from graph_bandit_campaign.state import Suggestion
from graph_bandit_campaign.suggest import SuggestSettings, suggest

__all__ = ["Campaign", "SuggestSettings", "Suggestion", "suggest", "write_library"]
