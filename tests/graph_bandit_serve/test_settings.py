import dataclasses
import subprocess
import sys

import pytest

from graph_bandit_serve import ServeSettings
from graph_bandit_serve.settings import ServerLimits


def test_a_folder_is_enough(tmp_path):
    settings = ServeSettings(tmp_path)
    assert (settings.port, settings.host, settings.open, settings.guests) == (8765, "127.0.0.1", False, False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"port": -1}, "`port` to be an integer from 0 to 65535. Got -1"),
        ({"port": 65_536}, "Got 65536"),
        ({"port": True}, "Got True"),
        ({"host": ""}, "`host` to be a name or an address"),
        ({"host": "evil/x"}, "Got 'evil/x'"),
        ({"host": "a\nb"}, "`host`"),
        ({"open": "yes"}, "`open` to be True or False. Got 'yes'"),
        ({"guests": 1}, "`guests`"),
        ({"address": "lab.example.org"}, "`address` as https://lab.example.org"),
        ({"address": "https://lab.example.org/path"}, "without a path"),
        ({"address": "https://me:secret@lab.example.org"}, "`address`"),
        ({"address": "https://lab.example.org?x"}, "`address`"),
        ({"address": "ftp://lab.example.org"}, "`address`"),
        ({"address": "https://lab.example.org:99999"}, "`address`"),
        ({"address": "https://[lab"}, "`address`"),
        ({"address": "https://"}, "`address`"),
    ],
)
def test_what_is_not_as_described_is_refused(changes, message, tmp_path):
    with pytest.raises(ValueError, match="Expected") as refused:
        ServeSettings(tmp_path, **changes)
    assert message in str(refused.value)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(ServerLimits)])
@pytest.mark.parametrize("value", [0, -1, True, float("nan")])
def test_a_bound_is_positive(name, value):
    with pytest.raises(ValueError, match=f"`{name}` to be positive"):
        ServerLimits(**{name: value})


def test_help_needs_neither_framework_nor_numpy():
    code = (
        "import sys\nfrom graph_bandit_cli.main import main\n"
        "try: main(['serve', '--help'])\nexcept SystemExit: pass\n"
        "print([name for name in ('fastapi', 'uvicorn', 'pydantic', 'numpy', 'rdkit') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
