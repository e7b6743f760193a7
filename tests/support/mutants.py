"""Change one sign, comparison or constant at a time, and count the changes that the tests notice (`make mutants`).

    python tests/support/mutants.py [PLACE ...] [--draw 250] [--seed 0] [--other CHECKOUT] [--jobs 2]

Run it at the root of a checkout in which `make contexts` has recorded once which test executes which line (by
coverage.py, in `build/contexts`). Cosmic Ray makes the changes. Each is tested in a fork of one process that has
imported the libraries (Linux and macOS), where an import hook gives the changed source: no file is changed. Only tests
that execute the changed line run, those of the mirrored folder first, then the quickest, up to `LONGEST` seconds.

Annotations, default values, what is raised and `strict` are not changed. `--other` draws among the changes that another
checkout has, too, so that the tests of two versions are compared on the same ones: run it in both.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from xml.etree import ElementTree

import pytest
from coverage import CoverageData

ROOT = Path.cwd()
PLACES = ("gntk", "agents", "graph_bandit_env", "registry.py", "graph_bandit_lab", "graph_bandit_campaign")
PLACES += ("graph_bandit_bridges", "graph_bandit_serve", "graph_bandit_cli")
CONTEXTS, TIMES = "build/contexts", "build/contexts.xml"
LONGEST = 10.0
"""Seconds that the tests of one change may take, by the times that were recorded."""
OPTIONS = ("-x", "-q", "-o", "addopts=", "--import-mode=importlib", "--assert=plain", "-p", "no:cacheprovider")
BINARY = "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_Mul Pow_Mul BitOr_BitAnd BitAnd_BitOr BitXor_BitAnd"
COMPARISON = "Lt_LtE Lt_GtE LtE_Lt LtE_Gt Gt_GtE Gt_LtE GtE_Gt GtE_Lt Eq_NotEq NotEq_Eq Is_IsNot IsNot_Is"
UNARY = "USub_UAdd Delete_Invert Delete_Not"
LIBRARIES = (
    "torch_geometric.nn",
    "stable_baselines3",
    "rdkit.Chem",
    "pandas",
    "matplotlib.pyplot",
    "networkx",
    "numba",
)
LIBRARIES += ("scipy.stats", "hypothesis.extra.numpy", "gymnasium", "tyro", "jinja2")


@dataclass(frozen=True, order=True)
class Mutant:
    """A change of one source file. Two are equal if they change the same line of a function in the same way."""

    name: str
    """Function that holds the line, with its classes; "" outside functions."""
    before: str
    """The line."""
    operator: int
    """Place in `operators()`."""
    count: int
    """Changes by this operator that come earlier in the line."""
    path: str = field(compare=False)
    line: int = field(compare=False)
    occurrence: int = field(compare=False)
    """Changes by this operator that come earlier in the file."""

    def source(self, root: Path) -> str | None:
        """Return the whole file, changed; None if it is no Python then, as for the `*` before an argument."""
        from cosmic_ray.mutating import mutate_code

        text = (root / self.path).read_text(encoding="utf-8")
        changed = mutate_code(text, operators()[self.operator], self.occurrence)
        try:
            return changed if ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)) else None
        except SyntaxError:
            return None

    def __str__(self) -> str:
        after = (self.source(ROOT) or "").splitlines()[self.line - 1].strip()
        return f"{self.path}:{self.line}: {self.before}  ->  {after}"


@cache
def operators() -> list[object]:
    """Return the operators of Cosmic Ray that are used."""
    from cosmic_ray.operators import binary_operator_replacement as binary
    from cosmic_ray.operators import boolean_replacer, break_continue, number_replacer, zero_iteration_for_loop
    from cosmic_ray.operators import comparison_operator_replacement as comparison
    from cosmic_ray.operators import unary_operator_replacement as unary

    kinds = [getattr(binary, f"ReplaceBinaryOperator_{name}") for name in BINARY.split()]
    kinds += [getattr(comparison, f"ReplaceComparisonOperator_{name}") for name in COMPARISON.split()]
    kinds += [getattr(unary, f"ReplaceUnaryOperator_{name}") for name in UNARY.split()]
    names = ("AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd")
    kinds += [getattr(boolean_replacer, name) for name in names]
    kinds += [break_continue.ReplaceBreakWithContinue, break_continue.ReplaceContinueWithBreak]
    return [kind() for kind in (*kinds, number_replacer.NumberReplacer, zero_iteration_for_loop.ZeroIterationForLoop)]


def mutants_of(path: str, source: str) -> list[Mutant]:
    """List the changes of a file, in the order of its lines."""
    from cosmic_ray.ast import ast_nodes, get_ast

    tree, nodes, found = ast.parse(source), [*ast_nodes(get_ast(source))], list[Mutant]()
    skipped, lines, functions = [*_spans_left_alone(tree)], source.splitlines(), dict(_names_of_lines(tree))
    for number, operator in enumerate(operators()):
        counts = Counter[int]()
        places = [place for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, (place, _) in enumerate(places):
            line = place[0]
            if not any(start <= place < end for start, end in skipped):
                name, before = functions.get(line, ""), lines[line - 1].strip()
                found.append(Mutant(name, before, number, counts[line], path, line, occurrence))
                counts[line] += 1
    return sorted(found, key=lambda mutant: (mutant.line, mutant.operator, mutant.count))


def _spans_left_alone(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef():
                kept = node.decorator_list
                yield (node.lineno, node.col_offset), (node.body[0].lineno, node.body[0].col_offset)
            case ast.ClassDef():
                kept = [*node.decorator_list, *(field for field in node.body if isinstance(field, ast.AnnAssign))]
            case ast.AnnAssign():
                kept = [node.annotation]
            case ast.Raise() | ast.keyword(arg="strict"):
                kept = [node]
            case _:
                continue
        yield from (((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)) for part in kept)


def _names_of_lines(tree: ast.AST, outer: str = "", inside: bool = False) -> Iterator[tuple[int, str]]:
    """Yield each line in a function with the function's name; those of inner functions come later."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = f"{outer}.{node.name}".strip(".")
            if isinstance(node, ast.FunctionDef) and not inside:
                yield from ((line, name) for line in range(node.lineno, node.end_lineno + 1))
            yield from _names_of_lines(node, name, inside or isinstance(node, ast.FunctionDef))


def all_mutants(root: Path, places: Iterable[str]) -> list[Mutant]:
    """Make the mutants of the files at some places of a checkout."""
    files = [
        file
        for place in places
        for file in ((root / place).rglob("*.py") if (root / place).is_dir() else [root / place])
    ]
    sources = {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in sorted(files)}
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork")) as pool:
        return [mutant for found in pool.map(mutants_of, sources, sources.values(), chunksize=4) for mutant in found]


def draw(mutants: list[Mutant], others: list[Mutant] | None, size: int | None, seed: int) -> list[Mutant]:
    """Draw changes; with those of another checkout, of lines that stand in one function of both."""
    if others is not None:
        here, there = Counter(mutants), Counter(others)
        mutants = sorted(mutant for mutant in mutants if here[mutant] == there[mutant] == 1)
    return mutants if size is None else random.Random(seed).sample(mutants, min(size, len(mutants)))


@dataclass(frozen=True)
class Contexts:
    """Which test executes which line, and how long it takes."""

    data: CoverageData
    seconds: dict[str, float]
    """By test."""

    @classmethod
    @cache
    def read(cls) -> Contexts:
        """Read what `make contexts` has recorded."""
        seconds, data = {}, CoverageData(str(ROOT / CONTEXTS))
        data.read()
        for case in ElementTree.parse(ROOT / TIMES).iter("testcase"):
            seconds[f"{case.get('classname')}::{case.get('name')}"] = float(case.get("time"))
        return cls(data, seconds)

    def choose(self, mutant: Mutant) -> list[str]:
        """Name the tests of a changed line, or else of its file, or else of the mirrored folder, within `LONGEST`."""
        tests = defaultdict[int, set[str]](set)
        for line, contexts in self.data.contexts_by_lineno(str(ROOT / mutant.path)).items():
            tests[line] |= {context.rpartition("|")[0] for context in contexts} - {""}
        folder = f"tests/{Path(mutant.path).parent.as_posix()}/"
        names = tests[mutant.line] or set().union(*tests.values())
        if not names:  # compiled lines are not recorded
            names = {context.rpartition("|")[0] for context in self.data.measured_contexts()}
            names = {name for name in names if name.startswith(folder)}
        times = {name: self._time(name) for name in names}
        chosen, total = [], 0.0
        for name in sorted(times, key=lambda name: (not name.startswith(folder), times[name], name)):
            total += times[name]
            if total > LONGEST and chosen:
                break
            chosen.append(name)
        return chosen

    def _time(self, name: str) -> float:
        path, _, rest = name.partition("::")
        return self.seconds.get(f"{path.removesuffix('.py').replace('/', '.')}::{rest}", 1.0)


@dataclass
class Chosen:
    """Run some tests in their order and tell the first that fails: a plugin of pytest."""

    names: list[str]
    failed: Path

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        by_name = {item.nodeid: item for item in items}
        items[:] = [by_name[name] for name in self.names if name in by_name]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.write_text(report.nodeid, encoding="utf-8")


@dataclass(frozen=True)
class Changed:
    """Give the changed source when its module is imported: an entry of `sys.meta_path`."""

    mutant: Mutant
    source: str

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        file = ROOT / self.mutant.path
        if name != ".".join(Path(self.mutant.path).with_suffix("").parts).removesuffix(".__init__"):
            return None
        loader = SourceFileLoader(name, str(file))
        loader.get_code = lambda _: compile(self.source, loader.path, "exec")
        return importlib.util.spec_from_file_location(name, loader.path, loader=loader)


def first_failure(names: list[str], seconds: float, changed: Changed | None) -> str | None:
    """Run tests in a fork of this process; return the first that fails, "" if the process ended, None if all pass."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        failed = Path(scratch) / "failed"
        if not (pid := os.fork()):
            os.environ["PYTEST_DEBUG_TEMPROOT"] = scratch  # forks end without removing what they wrote
            signal.alarm(int(60 + 10 * seconds))
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            if changed:
                import numba

                numba.config.DISABLE_JIT = "njit" in changed.source  # loops would be compiled for each change
                sys.meta_path.insert(0, changed)
            files = dict.fromkeys(name.partition("::")[0] for name in names)
            os._exit(int(pytest.main([*OPTIONS, "-W", "ignore", *files], plugins=[Chosen(names, failed)])))
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return None if status == 0 else failed.read_text(encoding="utf-8") if failed.exists() else ""


SOUND: dict[str, bool] = {}


def is_noticed(mutant: Mutant) -> bool | None:
    """Tell whether a test fails on a mutant that passes without it; None if no test is known that could."""
    contexts = Contexts.read()
    names = contexts.choose(mutant)
    if not names:
        return None
    while names:
        failed = first_failure(names, sum(map(contexts._time, names)), Changed(mutant, mutant.source(ROOT) or ""))
        if failed is None:
            return False
        if not failed:
            return True
        if failed not in SOUND:
            SOUND[failed] = first_failure([failed], contexts._time(failed), None) is None
        if SOUND[failed]:
            return True
        names.remove(failed)
    return False


def main() -> int:
    """Test mutants, print those that no test notices, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", default=PLACES, help="files or folders; by default the product")
    parser.add_argument("--draw", type=int, help="so many mutants, each with the same chance; by default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--other", type=Path, help="root of another checkout: only changes that it has, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    arguments = parser.parse_args()
    others = all_mutants(arguments.other.resolve(), arguments.places) if arguments.other else None
    mutants = draw(all_mutants(ROOT, arguments.places), others, arguments.draw, arguments.seed)
    mutants = [mutant for mutant in mutants if mutant.source(ROOT) is not None]
    sys.path[:1] = [str(ROOT), str(ROOT / "tests")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in LIBRARIES:
            importlib.import_module(name)
    counts = defaultdict[str, Counter[bool | None]](Counter)
    with ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("fork")) as pool:
        for mutant, noticed in zip(mutants, pool.map(is_noticed, mutants), strict=True):
            counts[mutant.path.partition("/")[0]][noticed] += 1
            if not noticed:
                print("not executed" if noticed is None else "survived", mutant, flush=True)
    print(f"{'package':25} mutants noticed survived not executed")
    for place, count in [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]:
        print(f"{place:25} {count.total():7} {count[True]:7} {count[False]:8} {count[None]:12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
