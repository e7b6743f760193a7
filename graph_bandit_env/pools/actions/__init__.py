"""Actions of several parts: their slots, sets of them, and tables of which these are made."""

from graph_bandit_env.pools.actions.slots import Slot, SlotSet, every_action, from_slots
from graph_bandit_env.pools.actions.table import ActionTable, find_slots, read_actions

__all__ = ["ActionTable", "Slot", "SlotSet", "every_action", "find_slots", "from_slots", "read_actions"]
