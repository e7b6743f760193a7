"""Actions of several parts: their slots, sets of them, and tables of which these are made."""

from graph_bandit_env.pools.actions.slots import Slot, SlotSet, from_slots

__all__ = ["Slot", "SlotSet", "from_slots"]
