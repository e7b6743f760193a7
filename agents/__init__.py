"""The players of graph-bandit-env: each agent sees observations, masks and rewards, never means or regret.

Make one by name with `registry.make_agent`. The parts are public, for agents of one's own.
"""
