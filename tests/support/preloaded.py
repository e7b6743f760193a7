"""Processes that need not import torch and PyG again: forks of a server that has imported the libraries once.

None of our modules is loaded there, so that code which forgets an import of ours fails as it would for its user.
Programs that tests start spawn their workers as ever. Libraries of macOS may not be used after a fork, and Windows has
none.
"""

import multiprocessing.context
import os
import sys

LIBRARIES = ["torch", "torch_geometric.nn", "stable_baselines3", "rdkit.Chem", "pandas", "numba", "scipy.stats"]


class EnvironmentNow:
    """The environment variables of the process that pickles this; unpickling sets them."""

    def __reduce__(self):
        return set_environment, (dict(os.environ),)


def set_environment(variables):
    os.environ.clear()
    os.environ.update(variables)


if sys.platform == "linux":

    class PreloadedProcess(multiprocessing.context.ForkServerProcess):
        def __getstate__(self):
            return {"environment": EnvironmentNow(), **self.__dict__}  # unpickled first, before modules are imported

    class PreloadedContext(multiprocessing.context.ForkServerContext):
        Process = PreloadedProcess

    context = multiprocessing.context._concrete_contexts["spawn"] = PreloadedContext()
    context.set_forkserver_preload(LIBRARIES)
