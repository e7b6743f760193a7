import importlib
import pkgutil

import pytest

import benchmarks

MODULES = [module.name for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")]
LIBRARIES = {"benchmarks.pools.peers.ax": "ax", "benchmarks.pools.peers.baybe": "baybe"}  # that only `make doors` has


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_module_is_imported(name):
    pytest.importorskip(LIBRARIES.get(name, "numpy"))
    importlib.import_module(name)
