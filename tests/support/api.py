"""The public names of all doors, and of agents, read from the sources without importing them.

PYTHONPATH=.:tests python -m support.api        # writes docs/api.txt, which a release does (`make api`)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import registry
from support import PRODUCT, ROOT

SNAPSHOT = ROOT / "docs" / "api.txt"


def public_names() -> list[str]:
    """Return the names in `__all__` of each package and subpackage, and of agents, in alphabetical order."""
    return sorted({*_names(), *(f"agent {name}" for name in registry.list_agents())})


def _names() -> Iterator[str]:
    """Yield `package.name` for what each `__init__`, or its stub, lists."""
    for path in (ROOT / "registry.py", *(path for top in PRODUCT for path in (ROOT / top).rglob("__init__.py"))):
        door = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        stub = path.with_suffix(".pyi")
        for node in ast.parse((stub if stub.is_file() else path).read_text(encoding="utf-8")).body:
            if stub.is_file() and isinstance(node, ast.ImportFrom):
                yield from (f"{door}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                yield from (f"{door}.{name}" for name in ast.literal_eval(node.value))


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(public_names()) + "\n", encoding="utf-8")
    print(f"{SNAPSHOT.relative_to(ROOT)}: {len(public_names())} names.")
