"""Compile loops over NumPy arrays, and compute on one thread.

On matrices this small, two threads are several times slower than one and would change the order of sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from numba import njit

FASTMATH = ("reassoc", "contract", "nsz")  # none of these assumes the absence of NaN and infinity


def compile_loop(function: Callable[..., object], *, keep_order: bool = False) -> Any:
    """Compile a loop at its first call, and cache the result on disk if a folder is writable.

    Loops that call each other must be in one file, because a compiled caller is cached together with its callees.
    The loops are not annotated, so the result is `Any`.

    Args:
        function: takes NumPy arrays and numbers, in the subset of Python that Numba compiles.
        keep_order: sum in the written order, which prevents vectorisation within a sum.

    Returns:
        The compiled function.
    """
    fastmath = {*FASTMATH} - {"reassoc"} if keep_order else {*FASTMATH}
    try:
        return njit(cache=True, fastmath=fastmath, error_model="numpy")(function)
    except RuntimeError:  # no folder is writable, as in many containers
        return njit(fastmath=fastmath, error_model="numpy")(function)


@contextmanager
def one_thread() -> Iterator[None]:
    """Make torch use one thread inside a `with` block or a decorated function, and restore the number afterwards."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
