"""The command `graph-bandit`: run the requested subcommand without importing the others."""

from __future__ import annotations

import atexit
import difflib
import gc
import io
import os
import shutil
import sqlite3
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pkgutil import resolve_name

GROUPS = {  # summary of each command
    "choose what to measure": {
        "example-data": "Write example data: 4,419 molecules and a few results.",
        "suggest": "Suggest which molecules or experiments to measure next.",
        "backtest": "Test on a finished table how soon the best would be found.",
        "screen": "Score suggested molecules with your own program, in batches.",
        "prepare": "Prepare a large pool in parallel, to be read in parts.",
        "serve": "Serve campaigns to a team: web pages, and JSON for programs.",
        "mcp": "Offer campaigns to a language model (MCP over stdio).",
    },
    "compare agents": {
        "run": "Compare agents on one environment, and write a report.",
        "sweep": "Run grids of environments and agents in parallel.",
        "report": "Rewrite the report of a results folder, or export its data.",
        "compare": "Compare two results folders in pairs.",
        "best-settings": "Choose the best settings, for `sweep --tuned`.",
        "export": "Export finished repetitions, to continue elsewhere.",
        "agents": "List the installed agents, or the settings of one.",
    },
    "maintenance": {"cache": "Show the size of the cache of tables, or clear it."},
}
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
PARTS = {  # settings class of each command, from which tyro reads the flags, and its function
    "run": ("graph_bandit_cli.play:RunOptions", "graph_bandit_cli.play:play"),
    "sweep": ("graph_bandit_cli.play:SweepOptions", "graph_bandit_cli.play:play"),
    "report": ("graph_bandit_cli.results:ReportOptions", "graph_bandit_cli.results:report"),
    "export": ("graph_bandit_cli.results:ExportOptions", "graph_bandit_cli.results:export"),
    "best-settings": ("graph_bandit_cli.results:BestSettingsOptions", "graph_bandit_cli.results:best_settings"),
    "compare": ("graph_bandit_cli.results:CompareOptions", "graph_bandit_cli.results:compare"),
    "agents": ("graph_bandit_cli.agents:AgentsOptions", "graph_bandit_cli.agents:agents"),
    "suggest": ("graph_bandit_campaign:SuggestSettings", "graph_bandit_cli.measure:suggest"),
    "screen": ("graph_bandit_campaign:ScreenSettings", "graph_bandit_campaign:screen"),
    "backtest": ("graph_bandit_campaign:BacktestSettings", "graph_bandit_campaign:run_backtest"),
    "prepare": ("graph_bandit_campaign:PrepareSettings", "graph_bandit_campaign:prepare"),
    "serve": ("graph_bandit_serve:ServeSettings", "graph_bandit_serve:serve"),
    "mcp": ("graph_bandit_serve:McpSettings", "graph_bandit_serve:serve_tools"),
    "example-data": ("graph_bandit_cli.measure:ExampleOptions", "graph_bandit_cli.measure:example_data"),
    "cache": ("graph_bandit_cli.measure:CacheOptions", "graph_bandit_cli.measure:cache"),
}


def main(args: list[str] | None = None) -> int:
    """Run a command and return the exit code (0 done, 1 refused, 2 unknown command, 130 stopped by Ctrl-C)."""
    if args is None:
        gc.set_threshold(100_000, 50, 100)  # objects of imports stay alive, so collecting garbage there wastes time
        atexit.register(_skip_last_collection)
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # NumPy can reuse memory freed by pyarrow
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # no error for characters that the terminal cannot display
    name, *rest = (sys.argv[1:] if args is None else args) or [""]
    try:
        if name in ("-h", "--help"):
            print(usage(), flush=True)
            return 0
        if name == "--version":
            print(f"graph-bandit {version('graph-bandit-env')}")
            return 0
        if name in COMMANDS:
            with warnings.catch_warnings():
                # Warnings of this package are also shown under `python -W ignore`.
                warnings.filterwarnings("once", category=UserWarning, module="graph_bandit_")
                warnings.filterwarnings("ignore", ".torch.jit.script. is deprecated")  # when PyG is imported
                warnings.showwarning = partial(_show_warning, warnings.showwarning)
                return run(name, rest)
        nearest = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
        print(f"graph-bandit: Expected a command. Got {name or 'none'}.{hint}\n\n{usage()}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        print(f"\nStopped. {str(stop) or 'Finished work is stored.'}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader has closed the pipe, as in `graph-bandit agents | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except sqlite3.Error as error:
        room = " make room on its disk and" if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL else ""
        print(
            f"graph-bandit: {error}. Finished work is stored;{room} run the same command to continue.", file=sys.stderr
        )
        return 1
    except ArithmeticError as error:  # an agent has failed, and nothing was written
        print(f"graph-bandit: {error}. Name another agent.", file=sys.stderr)
        return 1
    except (ValueError, OSError, ImportError) as error:
        print(f"graph-bandit: {error}", file=sys.stderr)
        return 1


def _skip_last_collection() -> None:
    """Skip the final garbage collection for a faster exit, unless torch has loaded Triton, which reports leaks."""
    if "triton" not in sys.modules:
        gc.freeze()


def usage() -> str:
    """Return the help text with the list of commands."""
    width = max(map(len, COMMANDS))
    lines = ["usage: graph-bandit COMMAND [OPTIONS]"]
    for title, commands in GROUPS.items():
        lines += ["", f"{title}:", *(f"  {name:{width}}  {summary}" for name, summary in commands.items())]
    return "\n".join([*lines, "", "`graph-bandit COMMAND --help` describes the options of a command."])


def run(name: str, args: list[str]) -> int:
    """Read the settings of a command, run it, and return its exit code, 0 by default."""
    import tyro

    from graph_bandit_cli.help import format_help
    from graph_bandit_cli.options import check_options

    settings, function = resolve_name(PARTS[name][0]), PARTS[name][1]
    if asked := {"-h", "--help", "--help-all"}.intersection(args):
        width = shutil.get_terminal_size().columns
        print(format_help(name, COMMANDS[name], settings, width, in_full="--help-all" in asked), flush=True)
        return 0
    check_options(settings, args)
    given = tyro.cli(settings, args=args, prog=f"graph-bandit {name}")
    code = resolve_name(function)(given)
    return code if isinstance(code, int) else 0


def _show_warning(
    otherwise: Callable[..., None], message: Warning | str, category: type[Warning], *place: object
) -> None:
    """Print a warning of this package without its line of code."""
    if category.__module__.startswith(("graph_bandit_", "agents.")):
        print(f"graph-bandit: {message}", file=sys.stderr)
    else:
        otherwise(message, category, *place)
