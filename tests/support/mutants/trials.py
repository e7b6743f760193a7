"""Test the mutants of one file in forks of a process that has imported the project and collected the file's tests."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import pickle
import resource
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, FunctionType

import numba
import pytest
from _pytest.main import pytest_runtestloop as run_items

from support import ROOT
from support.house import PRODUCT
from support.mutants.changes import Mutant

COMPILED = (
    "agents/molecule/fingerprints.py",
    "gntk/engines/loops.py",
    "gntk/engines/revisits.py",
    "gntk/node_pairs.py",
)
"""Their loops run as plain Python, or Numba would compile them for each mutant, and hide their lines."""
CHANGING = "tests/agents/test_changing_graphs.py"
FURTHER = {
    f"agents/{name}.py": [CHANGING]
    for name in ("contract/base", "kernel/agent", "linear/agent", "neural/agent", "neural/network")
}
"""Tests of all agents at once, beside those that mirror a file."""
LONGEST = 900  # seconds that all tests of a file may take
OPTIONS = ("-x", "-o", "addopts=", "--import-mode=importlib", "--assert=plain", "-p", "no:cacheprovider")


def tests_of(path: str) -> list[str]:
    """Name the test file of a module, or else all of the folder that mirrors its own, or of the next one up."""
    *folders, name = Path(path).with_suffix("").parts
    for depth in range(len(folders), 0, -1) if folders else (0,):
        folder = Path("tests", *folders[:depth])
        own = sorted((ROOT / folder).glob(f"test_{name}.py"))
        if files := own or sorted((ROOT / folder).glob("test_*.py")):
            return [*(str(file.relative_to(ROOT)) for file in files), *FURTHER.get(path, [])]
    raise SystemExit(f"Expected tests of `{path}` in `{Path('tests', *folders)}`. Found none.")


def run_pytest(path: str, *plugins: object, seconds: int = 0) -> int:
    """Run the tests of a file in a fork of this process, without output; return the exit status, not 0 if one fails.

    Args:
        path: of the file.
        plugins: of pytest.
        seconds: after which the process is ended; 0: never.
    """
    pid = os.fork()
    if not pid:
        signal.alarm(seconds)
        numba.config.DISABLE_JIT = path in COMPILED
        quiet = ("-W", "ignore::RuntimeWarning") if path in COMPILED else ()  # NumPy warns where loops do not
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        os._exit(int(pytest.main([*OPTIONS, *quiet, *tests_of(path)], plugins=plugins)))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@dataclass(eq=False)
class Trace:
    """What the tests of a file do with it: a plugin of pytest."""

    path: str
    seconds: dict[str, float] = field(default_factory=dict)
    """By test, that it takes."""
    lines: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """By test, that it executes; by "" those that a fixture of several tests executes."""
    failed: list[str] = field(default_factory=list)
    """Tests that fail before anything is changed, such as those that cannot be played in a fork: they are left out."""

    def tracer(self, name: str) -> Callable[[FrameType, str, object], object]:
        target, seen = str(ROOT / self.path), self.lines[name]

        def within(frame: FrameType, event: str, _: object) -> object:
            seen.add(frame.f_lineno)
            return within

        return lambda frame, event, _: within if frame.f_code.co_filename == target else None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        start = time.process_time()
        sys.settrace(self.tracer(item.nodeid))
        result = yield
        sys.settrace(None)
        self.seconds[item.nodeid] = time.process_time() - start
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef) -> Iterator[None]:
        before = sys.gettrace()
        if fixturedef.scope != "function":
            sys.settrace(self.tracer(""))
        result = yield
        sys.settrace(before)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def choose(self, mutant: Mutant) -> list[str]:
        """Name the tests that execute what is changed, the quickest first."""
        shared = not mutant.lines or self.lines[""] & {*mutant.lines}
        sound = self.seconds.keys() - {*self.failed}
        names = [name for name in sound if shared or self.lines[name] & {*mutant.lines}]
        return sorted(names, key=self.seconds.__getitem__)


@dataclass(frozen=True, eq=False)
class Limits:
    """End the process at a test that takes ten times as long as it should, and ten seconds: a plugin of pytest."""

    seconds: dict[str, float]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        allowed = int(10 + 10 * self.seconds[nodeid])
        _, largest = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + allowed, largest))
        signal.alarm(5 * allowed)


@dataclass(frozen=True, eq=False)
class Trials:
    """Fork for each mutant once the tests are collected: a plugin of pytest."""

    path: str
    mutants: list[Mutant]
    jobs: int
    report: Callable[[Mutant, bool], None]
    note: Callable[[str], None]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        functions, items = _functions_of(self.path), {item.nodeid: item for item in session.items}
        gc.freeze()  # so that a collection in a fork does not touch, and copy, every page
        trace, running = self._trace(session, functions), dict[int, Mutant]()
        for mutant in self.mutants:
            names = trace.choose(mutant)
            if not names:
                self.report(mutant, False)
                continue
            if pid := os.fork():
                running[pid] = mutant
                self._collect(running, self.jobs - 1)
                continue
            session.items[:] = [items[name] for name in names]
            session.config.pluginmanager.register(Limits(trace.seconds))
            _exit_after(lambda mutant=mutant: (_replace_code(functions, self.path, mutant.source), run_items(session)))
        self._collect(running, 0)
        return True

    def _trace(self, session: pytest.Session, functions: list[tuple[FunctionType, int]]) -> Trace:
        """Run all tests on the file as it is, its code replaced by the same."""
        trace, (end, start) = Trace(self.path), os.pipe()
        if not os.fork():
            session.config.pluginmanager.register(trace)
            session.config.option.maxfail = 0

            def run() -> None:
                _replace_code(functions, self.path, (ROOT / self.path).read_text(encoding="utf-8"))
                run_items(session)
                with open(start, "wb") as pipe:
                    pickle.dump((trace.seconds, dict(trace.lines), trace.failed, [*sys.modules]), pipe)

            _exit_after(run)
        os.close(start)
        with open(end, "rb") as pipe:
            content = pipe.read()
        os.wait()
        if not content:
            pytest.exit("The tests fail before anything is changed.", 3)
        trace.seconds, lines, trace.failed, modules = pickle.loads(content)
        trace.lines.update(lines)
        for name in trace.failed:
            self.note(f"left out, since it fails here before anything is changed: {name}")
        for name in modules:  # those that the project imports lazily, so that not every fork does
            if name.partition(".")[0] in PRODUCT:
                importlib.import_module(name)
        return trace

    def _collect(self, running: dict[int, Mutant], left: int) -> None:
        while len(running) > left:
            pid, status = os.wait()
            self.report(running.pop(pid), status != 0)


def _exit_after(run: Callable[[], object]) -> None:
    """End this process: with 0 if what is run does not raise."""
    code = 1
    try:
        run()
        code = 0
    finally:
        os._exit(code)


def _module(path: str) -> str:
    return ".".join(Path(path).with_suffix("").parts).removesuffix(".__init__")


def _functions_of(path: str) -> list[tuple[FunctionType, int]]:
    """Find all functions of a file, wherever they have been imported to, with the place of their code in it."""
    importlib.import_module(_module(path))
    target = str(ROOT / path)
    place = {
        code: k for k, code in enumerate(_codes(compile(Path(target).read_text(encoding="utf-8"), target, "exec")))
    }
    functions = [thing for thing in gc.get_objects() if type(thing) is FunctionType]
    return [(f, place[f.__code__]) for f in functions if f.__code__.co_filename == target]


def _replace_code(functions: list[tuple[FunctionType, int]], path: str, source: str) -> None:
    codes = list(_codes(compile(source, str(ROOT / path), "exec")))
    for function, place in functions:
        function.__code__ = codes[place]


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@dataclass(frozen=True)
class Changed:
    """Give the changed source when its module is imported: an entry of `sys.meta_path`."""

    mutant: Mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != _module(self.mutant.path):
            return None
        loader = SourceFileLoader(name, str(ROOT / self.mutant.path))
        loader.get_code = lambda _: compile(self.mutant.source, loader.path, "exec")
        return importlib.util.spec_from_file_location(name, loader.path, loader=loader)


def is_killed_when_imported(mutant: Mutant) -> bool:
    """Run all tests of a file on a mutant outside functions, which changes what an import does."""
    sys.meta_path.insert(0, Changed(mutant))
    try:
        return run_pytest(mutant.path, seconds=LONGEST) != 0
    finally:
        sys.meta_path.pop(0)
