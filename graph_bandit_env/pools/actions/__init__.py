"""Actions of several parts: slots, sets of actions, and tables."""

from graph_bandit_env.pools.actions.slots import Slot, SlotSet, every_action, from_slots
from graph_bandit_env.pools.actions.table import ActionTable, find_slots, read_actions

__all__ = ["ActionTable", "Slot", "SlotSet", "every_action", "find_slots", "from_slots", "read_actions"]
