"""Run `graph-bandit` by `python -m graph_bandit_cli`."""

import sys

from graph_bandit_cli.main import main

sys.exit(main())
