"""Call functions in a process with limits on time and memory."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import get_context
from typing import Any, NamedTuple

import psutil

SECONDS = 20  # for a call
GIGABYTE = 1 << 30


class Outcome(NamedTuple):
    """What came of a call: how it failed, in one line; or the words in which it refused its input; or its value."""

    fault: str
    refused: str = ""
    value: Any = None


class Limited:
    """Makes calls in another process that may take `SECONDS`, and a gigabyte more than it has after its imports.

    Args:
        modules: further modules that it imports first.
    """

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._pool: ProcessPoolExecutor | None = None

    def call(self, function: Callable[..., Any], *arguments: Any) -> Outcome:
        """Call a function; a ValueError that begins with "Expected" is a refusal, all else that it raises a fault."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                1, mp_context=get_context("spawn"), initializer=limit_memory, initargs=self._modules
            )
            self._pool.submit(int).result()  # so that its start does not count
        try:
            return Outcome("", value=self._pool.submit(function, *arguments).result(SECONDS))
        except TimeoutError:
            self.close()
            return Outcome(f"took more than {SECONDS} s")
        except BrokenProcessPool:
            self.close()
            return Outcome("the process died")
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            words = str(error).replace("\n", " ")
            if isinstance(error, ValueError | ImportError) and words.startswith("Expected") and len(words) < 5000:
                return Outcome("", words)
            return Outcome(f"{type(error).__name__}: {words[:150]}")

    def close(self) -> None:
        """Kill the process, whatever it is doing."""
        if self._pool is not None:
            for process in list(self._pool._processes.values()):
                process.kill()
            self._pool.shutdown()
            self._pool = None


def limit_memory(*modules: str) -> None:
    """Let this process take one more gigabyte; only Linux keeps to it."""
    import openpyxl  # noqa: F401
    import pyarrow.parquet
    from rdkit import Chem  # noqa: F401

    pyarrow.array([""])  # whose allocator reserves a gigabyte of addresses when it is first used
    for module in modules:
        import_module(module)
    if sys.platform == "linux":
        import resource

        most = psutil.Process().memory_info().vms + GIGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
