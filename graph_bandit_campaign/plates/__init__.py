"""Batches that cost money, or may hold only so many graphs of one group."""

from graph_bandit_campaign.plates.choice import check_plate, choose_plate, most_allowed, spare_likely
from graph_bandit_campaign.plates.plate import Plate
from graph_bandit_campaign.plates.scaffolds import murcko_scaffolds

__all__ = ["Plate", "check_plate", "choose_plate", "most_allowed", "murcko_scaffolds", "spare_likely"]
