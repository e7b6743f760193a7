"""Learn from the results: the agent, failures, reasons, the choice of a batch, and whether it is enough."""
