"""Refuse to run if Python would import another project's `agents` or `registry`: both names are common.

`registry`, `graph_bandit_lab`, `graph_bandit_campaign`, `graph_bandit_serve` and `graph_bandit_cli` import this module
first. It is a module of its own because it must run before `registry` can be trusted, and `registry` must not import
the packages above it. The check imports nothing: it looks at where Python would find the two names, and whether their
sources name us.
"""

from __future__ import annotations

import os
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "graph-bandit-env"
"""Our modules contain this name, so that a file of another project installed over one of ours is recognised."""


def refuse_strangers(folder: Path) -> None:
    """Check that Python finds our `agents` and `registry`.

    Args:
        folder: the folder that holds ours.

    Raises:
        ImportError: if Python finds those of another package; the message names both files and says what to do.
    """
    for name, ours in (("agents", folder / "agents" / "__init__.py"), ("registry", folder / "registry.py")):
        spec = find_spec(name)
        origin = spec.origin if spec is not None else None
        if origin is None or not _same_module(origin, ours):
            remedy = (
                "which comes first on Python's path. Rename it, or start Python in another folder or with -P; if it "
                f"comes with an installed package, install {DISTRIBUTION} in an environment of its own"
            )
        elif spec is not None and not _says_ours(spec):
            remedy = f"which another package installed over it. Install {DISTRIBUTION} in an environment of its own"
        else:
            continue
        raise ImportError(f"Expected `{name}` of {DISTRIBUTION}, {ours}. Got {origin or 'none'}, {remedy}.")


def _same_module(origin: str, ours: Path) -> bool:
    if Path(origin).stem != ours.stem:  # the suffix may differ: a compiled file will do
        return False
    return os.path.normcase(os.path.realpath(Path(origin).parent)) == os.path.normcase(os.path.realpath(ours.parent))


def _says_ours(spec: ModuleSpec) -> bool:
    read = getattr(spec.loader, "get_source", None)  # a loader of compiled files lacks it, or it returns None
    source = read(spec.name) if read else None
    return source is None or DISTRIBUTION in source


refuse_strangers(Path(__file__).parent)
