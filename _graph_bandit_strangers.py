"""Refuse to run where `agents` or `registry` is a stranger's: both names are common, in folders and in packages.

`registry`, `graph_bandit_lab`, `graph_bandit_campaign` and `graph_bandit_cli` import this first. It stands beside them
and not inside one of them, for it must be there before `registry` is trusted, and `registry` imports none above it.
Nothing is imported to find out: where Python would look, and what the file says of itself, are enough.
"""

from __future__ import annotations

import os
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "graph-bandit-env"
"""Our modules name it in their source, so that a stranger's file written over one of ours is known too."""


def refuse_strangers(folder: Path) -> None:
    """Check that Python finds our `agents` and `registry`.

    Args:
        folder: where ours stand.

    Raises:
        ImportError: if it finds another package's; the message names both files and what to do.
    """
    for name, ours in (("agents", folder / "agents" / "__init__.py"), ("registry", folder / "registry.py")):
        spec = find_spec(name)
        found = spec.origin if spec is not None else None
        if found is None or not _same(found, ours):
            remedy = (
                "which comes first on Python's path. Rename it, or start Python in another folder or with -P; if it "
                f"comes with an installed package, install {DISTRIBUTION} in an environment of its own"
            )
        elif spec is not None and not _says_ours(spec):
            remedy = (
                f"another package's that was installed over it. Install {DISTRIBUTION} in an environment of its own"
            )
        else:
            continue
        raise ImportError(f"Expected `{name}` of {DISTRIBUTION}, {ours}. Got {found or 'none'}, {remedy}.")


def _same(one: str, other: Path) -> bool:
    if Path(one).stem != other.stem:  # a compiled file is as good as its source
        return False
    return os.path.normcase(os.path.realpath(Path(one).parent)) == os.path.normcase(os.path.realpath(other.parent))


def _says_ours(spec: ModuleSpec) -> bool:
    read = getattr(spec.loader, "get_source", None)  # which a loader of compiled files lacks, or answers with None
    source = read(spec.name) if read else None
    return source is None or DISTRIBUTION in source


refuse_strangers(Path(__file__).parent)
