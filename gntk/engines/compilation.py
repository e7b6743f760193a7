"""Compile loops over NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

FASTMATH = ("reassoc", "contract", "nsz")  # none of these assumes that NaN and infinity do not occur


def compile_loop(function: Callable[..., object], *, keep_order: bool = False) -> Any:
    """Compile a loop at its first call, and cache the result on disk if a folder can be written.

    Loops that call each other must stand in one file, because a compiled caller is cached together with its callees.
    The loops are not annotated, so the result is `Any`.

    Args:
        function: takes NumPy arrays and numbers, in the subset of Python that Numba compiles.
        keep_order: take sums in the order that is written, which is not vectorised within one sum.

    Returns:
        The compiled function.
    """
    fastmath = {*FASTMATH} - {"reassoc"} if keep_order else {*FASTMATH}
    try:
        return njit(cache=True, fastmath=fastmath, error_model="numpy")(function)
    except RuntimeError:  # no folder can be written to, as in many containers
        return njit(fastmath=fastmath, error_model="numpy")(function)
