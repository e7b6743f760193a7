"""What stands where and who imports whom, read from the sources without importing them.

    PYTHONPATH=tests python -m support.house [ROOT]

prints the figures of the tree at ROOT (of this repository by default): modules, imports, levels, lines, lines with Any.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import networkx as nx

from support import ROOT

PRODUCT = (
    "gntk",
    "graph_bandit_env",
    "agents",
    "registry",
    "graph_bandit_lab",
    "graph_bandit_campaign",
    "graph_bandit_bridges",
    "graph_bandit_serve",
    "graph_bandit_cli",
)
OURS = (*PRODUCT, "benchmarks", "support")


@dataclass(frozen=True)
class Import:
    """One name that one module imports from another."""

    importer: str
    line: int
    source: str
    """The module that is imported, or imported from."""
    name: str = ""
    """What is taken from it; "" where the module itself is imported."""
    local: bool = False
    """Inside a function, so that it happens at the first call."""
    for_types: bool = False
    """Under TYPE_CHECKING, so that it never happens."""

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.source}{self.name and '.' + self.name}"


@dataclass(frozen=True)
class Module:
    """One source file, or the door of a package."""

    name: str
    path: Path

    @property
    def is_door(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        return self.name.split(".")[0]

    @cached_property
    def lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines()

    @cached_property
    def imports(self) -> list[Import]:
        return imports_of(ast.parse(self.path.read_text(encoding="utf-8")), self.name)

    @cached_property
    def stub(self) -> list[Import]:
        """Imports that a lazy door makes where a name is first used; none for any other module."""
        path = self.path.with_suffix(".pyi")
        return imports_of(ast.parse(path.read_text(encoding="utf-8")), self.name) if path.is_file() else []

    @cached_property
    def public(self) -> set[str] | None:
        """Names written in `__all__`, or what the stub of a lazy door imports; None where there is neither."""
        for path in (self.path.with_suffix(".pyi"), self.path):
            for node in ast.parse(path.read_text(encoding="utf-8")).body if path.is_file() else ():
                if isinstance(node, ast.Assign) and any(getattr(to, "id", "") == "__all__" for to in node.targets):
                    return {item.value for item in ast.walk(node.value) if isinstance(item, ast.Constant)}
        return {one.name for one in self.stub} or None


def imports_of(tree: ast.AST, importer: str) -> list[Import]:
    """Return what a syntax tree imports; names of relative imports are made absolute as those of a package's door."""
    found: list[Import] = []

    def visit(node: ast.AST, local: bool, for_types: bool) -> None:
        here = Import(importer, getattr(node, "lineno", 0), "", "", local, for_types)
        if isinstance(node, ast.Import):
            found.extend(replace(here, source=alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = ".".join(filter(None, [importer if node.level else "", node.module]))
            found.extend(replace(here, source=source, name=alias.name) for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                visit(child, local, True)
            for child in node.orelse:
                visit(child, local, for_types)
            return
        local = local or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, local, for_types)

    visit(tree, False, False)
    return found


class House:
    """All modules of a tree of sources, and the graph of their imports."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.modules: dict[str, Module] = {}
        for top in OURS:
            base = root / "tests" if top == "support" else root
            for path in sorted([*base.glob(f"{top}.py"), *(base / top).rglob("*.py")]):
                parts = path.relative_to(base).with_suffix("").parts
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                self.modules[name] = Module(name, path)

    def of(self, *packages: str) -> list[Module]:
        return [module for module in self.modules.values() if module.package in packages]

    def targets(self, one: Import) -> set[str]:
        """Return the modules of ours that an import reaches: a door's, or, past a lazy door, that of the name."""
        submodule = f"{one.source}.{one.name}"
        if submodule in self.modules:
            return {submodule}
        if one.source not in self.modules:
            return set()
        homes = [behind for behind in self.modules[one.source].stub if behind.name == one.name]
        return {one.source}.union(*(self.targets(behind) for behind in homes))

    def graph(self, packages: tuple[str, ...] = OURS) -> nx.DiGraph:
        """Return who imports whom, inside functions and for types too: an edge from importer to imported."""
        graph = nx.DiGraph()
        graph.add_nodes_from(module.name for module in self.of(*packages))
        for module in self.of(*packages):
            for one in module.imports:
                graph.add_edges_from((module.name, target) for target in self.targets(one) if target in graph)
        return graph

    def circles(self) -> list[list[str]]:
        """Return the groups of modules that import each other, each as one way round."""
        graph = self.graph()
        groups = [group for group in nx.strongly_connected_components(graph) if len(group) > 1]
        rounds = [[edge[0] for edge in nx.find_cycle(graph.subgraph(group))] for group in groups]
        return rounds + [[name] for name in nx.nodes_with_selfloops(graph)]

    def reached_from(self, starts: list[Module], local_in: str) -> dict[str, list[str]]:
        """Return what is imported where these modules are, each with the way there, packages of others included.

        Imports inside functions count in the package `local_in` alone: elsewhere they are made where they are needed.
        """
        ways: dict[str, list[str]] = {}
        waiting = [(module.name, [module.name]) for module in starts]
        while waiting:
            name, way = waiting.pop(0)
            if name in ways:
                continue
            ways[name] = way
            if name not in self.modules:
                continue
            parent = name.rpartition(".")[0]  # an import of a module imports its packages first
            waiting += [(parent, [*way, parent])] if parent else []
            for one in self.modules[name].imports:
                if not one.for_types and (not one.local or self.modules[name].package == local_in):
                    waiting += [(target, [*way, target]) for target in self.targets(one) or {one.source}]
        return ways


def lines_with_any(module: Module) -> list[int]:
    """Return the numbers of lines that name `Any`, those of imports aside."""
    imported = {one.line for one in module.imports if one.name == "Any"}
    return [k for k, line in enumerate(module.lines, 1) if re.search(r"\bAny\b", line) and k not in imported]


def figures(house: House) -> list[tuple[str, ...]]:
    """Return the table of the packages: a row of titles, one for each package, and one for the product."""
    rows: list[tuple[str, ...]] = [("package", "modules", "imports", "levels", "lines", "lines with Any")]
    for title, packages in [*((package, (package,)) for package in (*PRODUCT, "benchmarks")), ("product", PRODUCT)]:
        modules, graph = house.of(*packages), house.graph(packages)
        if not modules:
            continue
        levels = nx.dag_longest_path_length(nx.condensation(graph)) + 1
        lines, anys = sum(len(one.lines) for one in modules), sum(len(lines_with_any(one)) for one in modules)
        counted = [one for one in modules if one.lines and not one.is_door]
        rows.append((title, *map(str, (len(counted), graph.number_of_edges(), levels, lines, anys))))
    return rows


if __name__ == "__main__":
    table = figures(House(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print(row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)))
