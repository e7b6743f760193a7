"""The programs of the pages run as written, but shortened, and their commands and links are those that there are.

`make docs` checks the links of the site.
"""

import dataclasses
import functools
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
import types
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from support import PROJECT, ROOT, pictures
from support.pages import (
    PAGES,
    SHELL,
    anchors_of,
    blocks_of,
    commands_of,
    first_not_printed,
    inline_commands_of,
    links_of,
    pairs_of,
)

import registry
from graph_bandit_cli.main import COMMANDS, PARTS, main
from graph_bandit_env import GraphSet
from graph_bandit_lab import AgentSpec, read_sweep
from graph_bandit_lab.design import environment
from graph_bandit_lab.design.own_graphs import Contents, OwnGraphs

GUIDES = [ROOT / "README.md", *sorted(ROOT.glob("docs/guides/*.md"))]
SHORTER = (  # what takes long, and what the tests make of it
    (r"learn\([\d_]+\)", "learn(64)"),
    (r"n_steps=\d+", "n_steps=8, batch_size=8, n_epochs=1"),
    (r"make_bandits\(\d+\)", "make_bandits(8)"),
    (r"range\(\d{3,}\)", "range(20)"),
)
SHORT_RUN = {"--horizon": "5", "--num-graphs": "5", "--num-nodes": "5", "--repetitions": "2"}
MOST_AGENTS = 6
"""Of a run that takes seconds."""
ANY_VALUE = {"NAME": "gnn-ts", "COMMAND": "run"}  # what stands for something in sentences
ANY_GRAPHS = OwnGraphs(
    GraphSet([[[1.0]]] * 999, [[]] * 999),
    np.zeros(999),
    Contents(
        digest="", num_graphs=999, num_nodes=(1, 1), feature_dim=1, are_molecules=True, have_values=True, left_out=0
    ),
)
"""What a page may have written to a file."""
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


# --- Commands


def check_graph_bandit(arguments, folder):
    """Parse a command, and read the agents and sweeps that it names."""
    parsed = []
    if arguments[0] in COMMANDS:
        with (
            mock.patch(PARTS[arguments[0]][1].replace(":", "."), parsed.append),
            mock.patch.object(environment, "read_outline", return_value=ANY_GRAPHS),
        ):
            assert stops_with(main, arguments) == 0, arguments
    else:
        assert stops_with(main, arguments) == 0, arguments
    for settings in parsed:
        agents = getattr(settings, "agents", ()) or (getattr(settings, "agent", None) or "random",)
        if hasattr(settings, "sweep"):
            overrides = dataclasses.replace(settings, tuned=None, tables=None)
            path = ROOT / settings.sweep if (ROOT / settings.sweep).is_file() else folder / settings.sweep
            sweep = read_sweep(path if path.is_file() else settings.sweep, overrides)
            assert sweep.grids
            agents = ()
        for agent in map(AgentSpec.parse, agents):
            registry.make_agent(agent.name, **agent.settings)


def stops_with(function, *arguments):
    """Return the exit code of a function that returns one or exits."""
    try:
        return function(*arguments)
    except SystemExit as stop:
        return stop.code or 0


def check_python(arguments, folder):
    """Find a module or script."""
    flag, *rest = arguments
    if flag != "-m":
        assert (ROOT / flag).is_file(), flag
        return
    module, *rest = rest
    assert importlib.util.find_spec(module), f"no module {module}"


def check_make(arguments, folder):
    for target in arguments:
        assert "=" in target or re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), f"no target {target}"


def check_pip(arguments, folder):
    """Find the extras of this package, and the files that are named."""
    assert arguments[0] == "install"
    for word in arguments[1:]:
        ours = re.fullmatch(r"(?:\.|graph-bandit-env)(?:\[([\w,]+)\])?(?: @ .*)?", word)
        for extra in filter(None, (ours[1] or "").split(",") if ours else ()):
            assert extra in PROJECT["optional-dependencies"], f"no extra {extra}"
        if word.endswith(".txt"):
            assert (ROOT / word).is_file()


def check_paths(arguments, folder):
    """Find the files that a tool of ours is to look at."""
    for word in arguments:
        assert "/" not in word or (ROOT / word).exists(), f"no {word}"


CHECKS = {
    "graph-bandit": check_graph_bandit,
    "python": check_python,
    "make": check_make,
    "pip": check_pip,
    "git": lambda words, folder: None,
    "uv": lambda words, folder: words[0] != "pip" or check_pip(words[1:], folder),
    **dict.fromkeys(("pytest", "ruff", "mypy"), check_paths),
}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_are_understood(page, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(registry, "_ADMITTED", {})
    monkeypatch.syspath_prepend(tmp_path)
    for block in blocks_of(page):
        if block.language == "toml":
            tomllib.loads(block.text)
            for name in re.findall(r"sweep (\w+\.toml)", page.read_text(encoding="utf-8")):
                (tmp_path / name).write_text(block.text, encoding="utf-8")
        elif block.language in SHELL:
            for program, *arguments in commands_of(block):
                CHECKS[program](arguments, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_in_sentences_are_there(page, tmp_path, capsys):
    """They may be cut short, so only names and flags are looked up."""
    for command in inline_commands_of(page):
        program, *words = [ANY_VALUE.get(word.strip("'"), word.strip("'")) for word in command.split()]
        if program != "graph-bandit":
            CHECKS[program](words, tmp_path)
        elif words[0] in COMMANDS:
            assert stops_with(main, [words[0], "--help-all"]) == 0
            text = capsys.readouterr().out
            assert all(word in text for word in words if word.startswith("--") and word != "--help"), command
        else:
            assert words == ["--help"], command


# --- Programs


def shorten(text):
    return functools.reduce(lambda short, change: re.sub(*change, short), SHORTER, text)


def play(arguments):
    """Play a command if it takes seconds, or reads what one has played; return its exit code."""
    command, *rest = arguments
    if command == "example-data":
        return write_example_data(*rest)
    if command == "run" and "library" not in rest:  # which is made for this alone
        own = {"--num-graphs", "--num-nodes"} if "--graphs" in rest else set()
        for flag, value in SHORT_RUN.items():
            if flag in own:
                continue
            if flag in rest:
                rest[rest.index(flag) + 1] = value
            else:
                rest += [flag, value]
        count = next((k for k, word in enumerate(rest[1:]) if word.startswith("--")), len(rest))  # after --agents
        return stops_with(main, [command, *rest]) if count <= MOST_AGENTS else 0
    if command == "agents" or (command in ("report", "best-settings") and Path(rest[0]).is_dir()):
        return stops_with(main, [command, *rest])
    return 0


@functools.cache
def write_example_data(*arguments):
    """Write it once, though many pages do: it takes ten seconds."""
    return stops_with(main, ["example-data", *arguments])


SLOW = [page for page in GUIDES if any(shown and shown.remark == "slow" for _, shown in pairs_of(page))]


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_page_is_played_from_top_to_bottom_and_shows_what_it_prints(page, tmp_path, monkeypatch, capsys):
    """In an empty folder; its programs go on from each other, and a traceback shows the lines of the page."""
    play_page(page, tmp_path, monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("page", SLOW, ids=name_of)
def test_slow_programs_of_a_page_print_what_it_shows(page, tmp_path, monkeypatch, capsys):
    play_page(page, tmp_path, monkeypatch, capsys, in_full=True)


def play_page(page, tmp_path, monkeypatch, capsys, in_full=False):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    module = types.ModuleType("__main__")
    script = tmp_path / f"{page.stem}.md.py"
    module.__file__ = str(script)
    for block, shown in pairs_of(page):
        is_compared = page.name != "README.md" and shown is not None and (in_full or shown.remark != "slow")
        capsys.readouterr()
        if block.language == "python":
            program = "\n" * (block.line - 1) + (block.text if is_compared else shorten(block.text))
            earlier = script.read_text(encoding="utf-8") if script.is_file() else ""
            script.write_text(earlier + program[earlier.count("\n") :], encoding="utf-8")
            with monkeypatch.context() as main_is_the_page:
                main_is_the_page.setitem(sys.modules, "__main__", module)
                exec(compile(program, script, "exec", dont_inherit=True), vars(module))
        else:
            for program, *arguments in commands_of(block):
                done = stops_with if is_compared else play
                assert program != "graph-bandit" or done(*([main, arguments] if is_compared else [arguments])) == 0
        if is_compared:
            missing = first_not_printed(shown.text, printed := capsys.readouterr().out)
            assert not missing, f"line {block.line} does not print what is shown: {missing}\n\nIt prints:\n{printed}"


# --- Links


def test_links_lead_somewhere_on_github():
    """There, a page that the site generates is missing, and a link to the root of the site is wrong."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in listed.splitlines()]
    there = {*files, *(folder for file in files for folder in file.parents)}
    broken = []
    for page in (file for file in files if file.suffix == ".md"):
        for link in links_of(page):
            path, _, anchor = link.partition("#")
            target = Path(os.path.normpath(page.parent / path)) if path else page
            if target not in there or (anchor and anchor not in anchors_of(target)):
                broken.append(f"{name_of(page)}: {link}")
    assert not broken, "\n".join(broken)


# --- README


def test_readme_is_read_in_a_minute():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 110
    assert len(text.split()) <= 900


@pytest.mark.parametrize("target", pictures.README)
def test_readme_and_its_pictures_show_what_the_commands_print(target, tmp_path):
    """To the digit on the kind of processor on which they were drawn; on others a run parts from its twin."""
    printed, (drawn, is_same) = pictures.rows_of(pictures.play(target, tmp_path)), pictures.kept_in(target)
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert " ".join(pictures.commands_of(target)[-1]) in re.sub(r"\s*\\\n\s*", " ", page)
    shown = pictures.rows_of(page)
    for name, row in pictures.rows_of(drawn).items():
        last = len(row) - (target == "demo")  # whose last column is time
        assert shown[name][:last] == row[:last]
        if is_same:
            assert printed[name][:last] == row[:last]
        elif target == "demo":
            assert float(row[1]) <= float(printed[name][0]) <= float(row[2])  # the mean lies in the interval
        else:
            assert printed[name][0] == row[0]
            assert float(printed[name][1]) == pytest.approx(float(row[1]), abs=float(row[2]) / 10)
