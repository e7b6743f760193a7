"""`python -m graph_bandit_cli` is `graph-bandit`."""

import sys

from graph_bandit_cli.main import main

sys.exit(main())
