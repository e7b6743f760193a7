"""What an agent is: protocol, inputs, settings, saved state, and the checks that hold an agent against it."""

from agents.contract.protocol import Agent, BatchAgent, DivergedError, Prediction

__all__ = ["Agent", "BatchAgent", "DivergedError", "Prediction"]
