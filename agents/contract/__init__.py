"""What an agent is: protocol, inputs, settings, saved state, and the checks that hold an agent against it."""

from agents.contract.protocol import Agent
from gntk import one_thread

__all__ = ["Agent", "one_thread"]
