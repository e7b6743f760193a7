"""What needs a package that is not installed says which extra installs it."""

import configparser
import sys
from pathlib import Path

import pytest

from graph_bandit_env.extras import EXTRAS, MissingExtraError, is_installed, require


@pytest.mark.parametrize("module", EXTRAS)
def test_the_extra_that_is_named_installs_the_package(module):
    setup = configparser.ConfigParser()
    setup.read(Path(__file__).parents[2] / "setup.cfg")
    project, extra = EXTRAS[module]
    assert f"\n{project.lower()}>=" in setup["options.extras_require"][extra]


@pytest.mark.parametrize("module", EXTRAS)
def test_only_what_is_missing_is_refused(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    assert not is_installed(module)
    extra = EXTRAS[module][1]
    message = rf"This needs .*: pip install 'graph-bandit-env\[{extra}\]', or in a clone '\.\[{extra}\]'\."
    with pytest.raises(MissingExtraError, match=message):
        require(module, "This")
    require("json", "This")
