import subprocess
import sys

import graph_bandit_campaign


def test_every_public_name_is_there():
    for name in graph_bandit_campaign.__all__:
        assert getattr(graph_bandit_campaign, name).__name__ == name
    assert set(graph_bandit_campaign.__all__) <= set(dir(graph_bandit_campaign))


def test_settings_of_the_command_need_nothing_heavy():
    code = (
        "import sys; from graph_bandit_campaign import SuggestSettings; "
        "sys.exit(str({'numpy', 'torch', 'pandas', 'matplotlib', 'gymnasium', 'rdkit'} & {*sys.modules} or ''))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.stderr.strip() == ""
