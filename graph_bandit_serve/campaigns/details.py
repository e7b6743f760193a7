"""Read the small tables next to a campaign: why its last suggestions were made, and which results were typed in."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from graph_bandit_campaign import CampaignState, digest_of
from graph_bandit_serve.settings import ServerLimits

TYPED = ".results.csv"
SKIPPED = ("rank", "id", "smiles", "standard_deviation", "interval_", "predicted_", "probability_")


def read_details(state: CampaignState, path: Path, limits: ServerLimits) -> dict[str, dict[str, str]]:
    """Return the cells of the last suggestions by id, but for predictions; none if their table was changed.

    Args:
        state: the campaign.
        path: of its file.
        limits: the limits.
    """
    out = state.command.get("out")
    if not isinstance(out, str) or Path(out).name != out or not out.endswith(".csv"):
        return {}
    content = _read(path.with_name(out), limits)
    if digest_of(content) not in state.written:
        return {}
    return {
        row["id"].removeprefix("'"): {name: text for name, text in row.items() if text and not name.startswith(SKIPPED)}
        for row in _rows(content)
        if row.get("id")
    }


def read_typed(path: Path, limits: ServerLimits) -> set[str]:
    """Return the ids of what has results that were typed in.

    Args:
        path: path of the campaign's file.
        limits: the limits.
    """
    content = _read(path.with_name(path.name.removesuffix(".campaign.json") + TYPED), limits)
    return {row["id"].removeprefix("'") for row in _rows(content) if row.get("id")}


def _read(path: Path, limits: ServerLimits) -> bytes:
    """Return the content of a file; nothing if there is none, it is a link, or too large."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > limits.file_bytes:
            return b""
        return path.read_bytes()
    except OSError:
        return b""


def _rows(content: bytes) -> list[dict[str, str]]:
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        return []
    return [dict(zip(rows[0], row, strict=False)) for row in rows[1:]] if rows else []
