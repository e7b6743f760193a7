"""The command `graph-bandit`: find the requested subcommand, and import nothing for the others."""

from __future__ import annotations

import atexit
import difflib
import gc
import io
import os
import sqlite3
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pkgutil import resolve_name

COMMANDS = {  # summary of each
    "run": "Play agents against each other on one environment, and write a report.",
    "sweep": "Play grids of environments and agents in parallel, and continue after any interruption.",
    "report": "Write the report of a folder again, from its stored results.",
    "export": "Write the finished repetitions of a folder to a small file, to go on elsewhere.",
    "tuned": "Write the best settings of a folder to a file that `sweep --tuned` reads.",
    "compare": "Compare two folders in pairs: did a change make agents better or worse?",
    "agents": "List the installed agents, or the settings of one.",
    "suggest": "Suggest which molecules of a table, or other graphs, to measure next.",
    "screen": "Let a program of your own compute the values of what is suggested, batch by batch.",
    "backtest": "Replay a finished table of molecules: would the suggestions have found the best ones sooner?",
    "prepare": "Prepare a pool of any size, in parallel, so that rounds read it part by part.",
    "serve": "Show the campaigns of a folder to a team: pages in a browser, and JSON for programs.",
    "mcp": "Offer the campaigns of a folder to a language model: tools over stdin and stdout (MCP).",
    "library": "Write a pool of 4,419 molecules and a few results, to try `suggest` with.",
    "cache": "Show how much is kept of tables that were read, or clear it.",
}
PARTS = {  # type of the settings of each, from which tyro reads the flags, and function that takes them
    "run": ("graph_bandit_cli.play:RunOptions", "graph_bandit_cli.play:play"),
    "sweep": ("graph_bandit_cli.play:SweepOptions", "graph_bandit_cli.play:play"),
    "report": ("graph_bandit_cli.results:ReportOptions", "graph_bandit_cli.results:report"),
    "export": ("graph_bandit_cli.results:ExportOptions", "graph_bandit_cli.results:export"),
    "tuned": ("graph_bandit_cli.results:TunedOptions", "graph_bandit_cli.results:tuned"),
    "compare": ("graph_bandit_cli.results:CompareOptions", "graph_bandit_cli.results:compare"),
    "agents": ("graph_bandit_cli.agents:AgentsOptions", "graph_bandit_cli.agents:agents"),
    "suggest": ("graph_bandit_campaign:SuggestSettings", "graph_bandit_cli.measure:suggest"),
    "screen": ("graph_bandit_campaign:ScreenSettings", "graph_bandit_campaign:screen"),
    "backtest": ("graph_bandit_campaign:BacktestSettings", "graph_bandit_campaign:run_backtest"),
    "prepare": ("graph_bandit_campaign:PrepareSettings", "graph_bandit_campaign:prepare"),
    "serve": ("graph_bandit_serve:ServeSettings", "graph_bandit_serve:serve"),
    "mcp": ("graph_bandit_serve:McpSettings", "graph_bandit_serve:serve_tools"),
    "library": ("graph_bandit_cli.measure:LibraryOptions", "graph_bandit_cli.measure:library"),
    "cache": ("graph_bandit_cli.measure:CacheOptions", "graph_bandit_cli.measure:cache"),
}


def main(args: list[str] | None = None) -> int:
    """Run a command; return the exit code (0 done, 1 refused, 2 unknown command, 130 stopped by Ctrl-C)."""
    if args is None:
        gc.set_threshold(100_000, 50, 100)  # what imports make is kept, and looking for garbage in it takes time
        atexit.register(_skip_last_collection)
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # what pyarrow frees, NumPy can use
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a character that the terminal cannot show is not an error
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
                # What the house warns of is said, under `python -W ignore` too.
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
    except BrokenPipeError:  # the reader has closed the pipe: `graph-bandit agents | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except sqlite3.Error as error:
        room = " make room on its disk and" if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL else ""
        print(
            f"graph-bandit: {error}. Finished work is stored;{room} run the same command to continue.", file=sys.stderr
        )
        return 1
    except ArithmeticError as error:  # an agent that cannot go on; nothing was written
        print(f"graph-bandit: {error}. Name another agent.", file=sys.stderr)
        return 1
    except (ValueError, OSError, ImportError) as error:
        print(f"graph-bandit: {error}", file=sys.stderr)
        return 1


def _skip_last_collection() -> None:
    """End the process sooner, unless Triton is loaded (by torch for CUDA), which reports what is not collected."""
    if "triton" not in sys.modules:
        gc.freeze()


def usage() -> str:
    """Return the help text with the list of commands."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {summary}" for name, summary in COMMANDS.items()]
    head = ["usage: graph-bandit COMMAND ...", "", "Graph action bandits.", "", "commands:"]
    return "\n".join([*head, *lines, "", "`graph-bandit COMMAND --help` lists the settings of a command."])


def run(name: str, args: list[str]) -> int:
    """Read the settings of a command, run it, and return the exit code, 0 unless its function returns another."""
    import tyro

    from graph_bandit_cli.options import check_options

    settings, function = PARTS[name]
    check_options(resolve_name(settings), args)
    given = tyro.cli(resolve_name(settings), args=args, prog=f"graph-bandit {name}", description=COMMANDS[name])
    code = resolve_name(function)(given)
    return code if isinstance(code, int) else 0


def _show_warning(
    otherwise: Callable[..., None], message: Warning | str, category: type[Warning], *place: object
) -> None:
    """Print a warning of the house without the line of code that it comes from."""
    if category.__module__.startswith(("graph_bandit_", "agents.")):
        print(f"graph-bandit: {message}", file=sys.stderr)
    else:
        otherwise(message, category, *place)
