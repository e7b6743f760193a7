"""Symbolic links, where the system allows them."""

import os

import pytest


def make_link(link, target):
    """Make a link, or skip the test: Windows asks for a privilege."""
    try:
        os.symlink(target, link)
    except OSError as error:
        pytest.skip(f"no symbolic links here: {error}")
