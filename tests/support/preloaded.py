"""Processes that need not import torch and PyG again: forks of a server that has imported the libraries once.

None of our modules is loaded there, so that code which forgets an import of ours fails as it would for its user.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
import os
import sys

LIBRARIES = (
    "torch",
    "torch_geometric.nn",
    "stable_baselines3",
    "sb3_contrib",
    "rdkit.Chem",
    "pandas",
    "networkx",
    "numba",
    "scipy.stats",
)
IS_SAFE = sys.platform == "linux"  # libraries of macOS may not be used after a fork, and Windows has none

if IS_SAFE:
    from multiprocessing.context import ForkServerContext, ForkServerProcess

    class PreloadedProcess(ForkServerProcess):
        """A fork of the server, with the environment variables that a spawned process would have."""

        def __getstate__(self) -> dict[str, object]:
            return {"environment": EnvironmentNow(), **self.__dict__}  # unpickled first, before modules are imported

    class PreloadedContext(ForkServerContext):
        Process = PreloadedProcess

    PROCESSES = PreloadedContext()
    PROCESSES.set_forkserver_preload(list(LIBRARIES))
else:
    PROCESSES = multiprocessing.get_context("spawn")


class EnvironmentNow:
    """The environment variables of the process that pickles this; unpickling sets them."""

    def __reduce__(self) -> tuple[object, ...]:
        return _set_environment, (dict(os.environ),)


def _set_environment(variables: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


def preload_workers() -> None:
    """Have all that asks for spawned processes get forks of the server, until this process ends.

    Programs that tests start spawn their workers as ever.
    """
    multiprocessing.context._concrete_contexts["spawn"] = PROCESSES
