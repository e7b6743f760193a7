"""Ctrl-C, as tests press it."""

import signal


def allow_ctrl_c():
    """Undo what a test runner in the background hands down: processes that ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
