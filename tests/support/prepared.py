"""Tables of molecules, the pools that are prepared from them, and rounds on both."""

from contextlib import redirect_stdout
from io import StringIO

import pytest

from graph_bandit_campaign.pool.prepared.making.run import prepare
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_cli.main import main


def prepare_in_parts(table, folder, rows, **given):
    """Prepare a pool in parts of so many rows, with blocks of 16."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrepareSettings, "block", 16)
        prepare(PrepareSettings(table, folder, part_rows=rows, workers=None, **given))
    return folder


def suggest(pool, results, out, *options):
    """Return the text of the suggestions, and what was printed."""
    command = ["suggest", str(pool), "--measured", str(results), "--maximize", "logp", "--out", str(out), "--n", "5"]
    command += [] if "--agent" in options else ["--agent", "molecule-ucb:short_list=40"]
    with redirect_stdout(StringIO()) as said:
        assert main([*command, "--workers", "None", *options]) == 0
    return out.read_text(), said.getvalue()
