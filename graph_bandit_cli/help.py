"""Format the help of a command in groups: the common options in a line or two each, or all options in full."""

from __future__ import annotations

import re
import textwrap
import warnings
from argparse import Action

GROUPS = """
    pool: pool table smiles id slot features | sheet ignore_column best_of directed most_atoms salts skip_bad_rows
    results: measured noise related_assay | measured_sheet drop_missing drop_source
    goals: maximize minimize target weights | goal_kind
    limits: require forbid filter price budget | budget_only ignore_failures allow_outside
    batch: n max_per_group group_by veto pin | lift comment user again next_batch undo
    output: out html predictions | overwrite
    model: agent encoder seed | workers
"""
"""Options of the commands for measurements, by group. Only `--help-all` describes those after a bar."""
MEASURING = ("suggest", "screen", "backtest", "prepare")
COLUMN = 26  # column of the descriptions
SHORTEST = 16  # characters of a last line: text is wrapped more tightly to avoid a shorter one
SENTENCE = re.compile(r".*?[.)](?= [A-Z\"`(0-9-]|$)")
DEFAULT = re.compile(r" ?\((?:default: (.*)|(required))\)$")


def options_of(settings: type) -> list[Action]:
    """Return the options of a command except `--help`, as tyro reads them from the dataclass of its settings."""
    import tyro

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # there is no other way to read them
        return tyro.extras.get_parser(settings)._actions[1:]


def spell_option(option: Action) -> str:
    """Return the usage of an option: `--n INT`, `--measured PATH ...`."""
    kind = re.sub(r"^\{None\}\|", "", str(option.metavar or ""))
    kind = re.sub(r"^\[(\S+) .*\]$", r"\1 ...", kind)
    kind = re.sub(r"^(\S+)\|\{\1 \1\}$", r"\1 [\1]", kind)
    name = next(iter(option.option_strings), "")
    return f"{name.replace('--', '--[no-]') if option.default is True else name} {kind}".strip()


def describe_option(option: Action, in_full: bool) -> str:
    """Return the description of an option, with its default if it is informative.

    Args:
        option: the option.
        in_full: if True, return more than the first sentence.
    """
    text = " ".join(str(option.help).split())
    found = DEFAULT.search(text)
    text, default = (text[: found.start()], found[1] or found[2]) if found else (text, "")
    sentence = None if in_full else SENTENCE.match(text)
    text = sentence[0] if sentence else text
    if default in ("", "none", "None", "False", "''"):
        return text
    return f"{text} ({default})" if default == "required" else f"{text} (default: {default})"


def group_options(name: str, settings: type, in_full: bool) -> dict[str, tuple[Action, ...]]:
    """Return the options of a command by group title.

    Args:
        name: the command.
        settings: dataclass of its settings.
        in_full: if True, include rare options.
    """
    titles = dict[str, str]()
    for title, _, fields in (line.strip().partition(": ") for line in GROUPS.strip().splitlines()):
        common, _, rare = fields.partition("|")
        titles |= dict.fromkeys(common.split(), title) | dict.fromkeys(rare.split(), title * in_full)
    groups: dict[str, tuple[Action, ...]] = dict.fromkeys(("arguments", "options", *titles.values()), ())
    for option in options_of(settings):
        kind, _, field = option.dest.replace("-", "_").rpartition(".")
        default = kind or ("options" if option.option_strings else "arguments")
        title = titles.get(field, default) if name in MEASURING else default
        groups[title] = (*groups.get(title, ()), option)
    return {title: options for title, options in groups.items() if title and options}


def wrap(text: str, width: int) -> list[str]:
    """Wrap a text to a width without a short last line."""
    for tighter in range(width, width - 2 * SHORTEST, -1):
        lines = textwrap.wrap(text, tighter, break_on_hyphens=False)
        if len(lines) < 2 or len(lines[-1]) >= SHORTEST:
            break
    return lines


def format_help(name: str, summary: str, settings: type, width: int, *, in_full: bool = False) -> str:
    """Return the help of a command.

    Args:
        name: the command.
        summary: summary of the command.
        settings: dataclass of its settings.
        width: columns of the terminal.
        in_full: if True, describe every option in full.
    """
    width, groups = max(min(width, 120), 60), group_options(name, settings, in_full)
    places = [spell_option(option) for options in groups.values() for option in options if not option.option_strings]
    lines = [" ".join(["usage: graph-bandit", name, *places, "[OPTIONS]"]), "", *wrap(summary, width)]
    for title, options in groups.items():
        lines += ["", f"{title}:"]
        for option in options:
            spelled, text = f"  {spell_option(option)}", wrap(describe_option(option, in_full), width - COLUMN)
            if len(spelled) >= COLUMN:
                lines += textwrap.wrap(spelled.replace(",", ", "), width, subsequent_indent=" " * 6)
                spelled = ""
            lines += [f"{spelled:{COLUMN}}{text[0]}", *(" " * COLUMN + line for line in text[1:])]
    hint = f"`graph-bandit {name} --help-all` describes every option in full."
    return "\n".join([*lines, *["", *wrap(hint, width)] * (not in_full)])
