"""Learn from the results: the agent, failures, explanations, the choice of a batch, and whether it is enough."""
