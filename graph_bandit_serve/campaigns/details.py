"""Read the table of the last suggestions of a campaign: why they were made."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

from graph_bandit_campaign import CampaignState, digest_of
from graph_bandit_serve.campaigns.folder import CampaignFolder, FoundFile

SKIPPED = ("rank", "id", "smiles", "standard_deviation", "interval_", "predicted_", "probability_")


def read_details(state: CampaignState, file: FoundFile, folder: CampaignFolder) -> dict[str, dict[str, str]]:
    """Return the cells of the last suggestions by id, but for predictions; none if their table was changed.

    Args:
        state: the campaign.
        file: its file.
        folder: the folder that is served.
    """
    out = state.command.get("out")
    if not isinstance(out, str) or Path(out).name != out or not out.endswith(".csv"):
        return {}
    content = _read(out, file, folder)
    if digest_of(content) not in state.written:
        return {}
    return {
        row["id"].removeprefix("'"): {name: text for name, text in row.items() if text and not name.startswith(SKIPPED)}
        for row in _rows(content)
        if row.get("id")
    }


def _read(name: str, file: FoundFile, folder: CampaignFolder) -> bytes:
    """Return the content of a file next to a campaign; nothing if there is none, it is a link, or too large."""
    try:
        return folder.read(replace(file, path=file.path.with_name(name)))
    except (OSError, ValueError):
        return b""


def _rows(content: bytes) -> list[dict[str, str]]:
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        return []
    return [dict(zip(rows[0], row, strict=False)) for row in rows[1:]] if rows else []
