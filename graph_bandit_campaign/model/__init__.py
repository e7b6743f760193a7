"""Learn from the results: agent, failures, explanations, choice of a batch, and stopping advice."""
