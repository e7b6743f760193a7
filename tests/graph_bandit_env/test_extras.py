"""What needs a package that is not installed says which extra installs it."""

import sys

import pytest
from support import PROJECT

from graph_bandit_env.extras import EXTRAS, MissingExtraError, is_installed, require


@pytest.mark.parametrize("module", EXTRAS)
def test_the_extra_that_is_named_installs_the_package(module):
    project, extra = EXTRAS[module]
    assert any(line.startswith(f"{project.lower()}>=") for line in PROJECT["optional-dependencies"][extra])


@pytest.mark.parametrize("module", EXTRAS)
def test_only_what_is_missing_is_refused(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    assert not is_installed(module)
    extra = EXTRAS[module][1]
    message = rf"This needs .*: pip install 'graph-bandit-env\[{extra}\]', or in a clone '\.\[{extra}\]'\."
    with pytest.raises(MissingExtraError, match=message):
        require(module, "This")
    require("json", "This")
