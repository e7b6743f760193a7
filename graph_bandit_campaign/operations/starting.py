"""Start a campaign in a new folder, for users without permission to name output files."""

from __future__ import annotations

import dataclasses
import os
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.command.suggestions import keep_command, open_campaign, write_suggestions
from graph_bandit_campaign.operations.place import CHANGEABLE, read_settings
from graph_bandit_campaign.operations.safe import check_command
from graph_bandit_campaign.operations.verbs import Asked, in_texts
from graph_bandit_campaign.store import Store

AT_FIRST = frozenset(
    (
        *CHANGEABLE,
        *("noise", "features", "smiles", "id", "sheet", "measured_sheet", "agent", "seed", "most_atoms"),
        *("salts", "directed", "skip_bad_rows", "slot", "encoder"),
    )
)
"""Settings that can be given at the start of a campaign."""
NEW = ".new-"
OLD = 24 * 3600.0  # seconds
LONGEST = 60  # characters of a name
DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{k}" for name in ("com", "lpt") for k in range(10))}  # of Windows


@dataclasses.dataclass(frozen=True)
class Moved:
    """A file that is moved into the folder of a campaign."""

    path: Path
    """Its current path."""
    name: str
    """Its name in the folder of the campaign."""


def start(
    root: Path,
    name: str,
    pool: Path | Moved,
    measured: Sequence[Path | Moved],
    fields: Mapping[str, object],
    suggest: bool = True,
    workers: int | None = 0,
) -> tuple[Path, Asked | None]:
    """Start a campaign: make its folder, add results, and suggest a first round.

    Args:
        root: folder that must contain all files. The folder of the campaign is made in it.
        name: name of the campaign, from which the name of the folder is derived.
        pool: the pool. A `Moved` file becomes part of the campaign, another path stays in place.
        measured: tables of results, likewise.
        fields: settings of `suggest`, from `AT_FIRST`, as in JSON.
        suggest: True to suggest a first round.
        workers: maximum number of processes that read molecules. 0: one for each core. None: only this process.

    Returns:
        The file of the campaign, and the suggestions, if requested.

    Raises:
        ValueError: as in `suggest`, if the campaign exists already, or a setting is not allowed.
        OSError, ImportError: as in `suggest`.
    """
    if unknown := min(fields.keys() - AT_FIRST, default=""):
        raise ValueError(f"Expected settings of {', '.join(sorted(AT_FIRST))}. Got `{unknown}`.")
    folder, new = root / folder_name(name), root / f"{NEW}{os.getpid()}-{secrets.token_hex(8)}"
    if os.path.lexists(folder):
        raise ValueError(f"Expected a new name. There is a folder {folder.name} already.")
    new.mkdir()
    moved = [file for file in (pool, *measured) if isinstance(file, Moved)]
    try:
        for file in moved:
            shutil.copyfile(file.path, new / file.name)
        paths = [new / file.name if isinstance(file, Moved) else file for file in (pool, *measured)]
        files = {"pool": paths[0], "measured": paths[1:], "out": new / "suggestions.csv"}
        settings = read_settings(SuggestSettings, {**fields, **files, "predictions": new / "predictions.csv"})
        settings, asked = replace(check_command(settings, root), workers=workers), None
        if suggest:
            asked = in_texts(*write_suggestions(settings))
        else:
            open_campaign(settings, store := Store(settings.state), has_tables=True)
            store.change("", lambda state: (replace(state, command=keep_command(settings)), None))
        new.rename(folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    for file in moved:
        file.path.unlink(missing_ok=True)
    return folder / settings.state.name, asked


def folder_name(name: str) -> str:
    """Return the name of a folder for a campaign: the letters, digits, `-` and `_` of its name.

    Args:
        name: the name.

    Raises:
        ValueError: if there are none.
    """
    kept = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", name))[:LONGEST].strip("-")
    if not kept:
        raise ValueError(f"Expected a name with letters or digits. Got {name!r}.")
    return f"{kept}_" if kept.casefold() in DEVICES else kept


def remove_unfinished(root: Path, age: float = OLD) -> None:
    """Remove the folders of campaigns whose process was killed. Recent folders may belong to running processes.

    Args:
        root: the folder of campaigns.
        age: seconds since the last change of a folder, after which it is removed.
    """
    for folder in root.glob(f"{NEW}*"):
        if folder.is_dir() and not folder.is_symlink() and time.time() - folder.stat().st_mtime >= age:
            shutil.rmtree(folder, ignore_errors=True)
