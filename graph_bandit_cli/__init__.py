"""The command `graph-bandit`."""

import _graph_bandit_strangers  # noqa: F401 - refuses to run beside another `agents` or `registry`
