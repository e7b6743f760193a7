"""The state of a campaign as text, for its file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import msgspec

from graph_bandit_campaign.goals.goal import Goal
from graph_bandit_campaign.state import CampaignState, Measurement, Suggestion

FORMAT = 1


def write_state(state: CampaignState) -> str:
    """Write the state as text that people can read too."""
    fields = {"format": FORMAT, **dataclasses.asdict(state)}
    for name in ("algorithm", "goals_algorithm", "failures_algorithm"):
        if fields[name] == 1:  # the files of the first version lack this key, and every version can read them
            del fields[name]
    for name in ("structures", "by_default", "goals", "unwritten", "written"):
        if not fields[name]:
            del fields[name]
    for measurement in fields["measured"]:
        for name in ("bound", "goal"):  # earlier versions lack these keys, and can read files without them
            if not measurement[name]:
                del measurement[name]
        if measurement["noise"] is None:
            del measurement["noise"]
    told = [suggestion for suggested in fields["rounds"] for suggestion in suggested]
    for entry in [*told, *(each for suggestion in told for each in suggestion["by_goal"].values())]:
        if entry["low"] is None:
            del entry["low"], entry["high"]
        if not entry["by_goal"]:
            del entry["by_goal"]
    return json.dumps(fields, indent=1, allow_nan=False) + "\n"


def read_state(text: str, path: Path) -> CampaignState:
    """Read the text that `write_state` wrote.

    Raises:
        ValueError: if the text is not a campaign, or one of another version; the message names what is wrong.
    """
    try:
        fields = json.loads(text, object_pairs_hook=_read_object, parse_constant=_refuse_constant)
        found = fields.pop("format", "none") if isinstance(fields, dict) else FORMAT
        if found is True or found != FORMAT:
            raise ValueError(f"Expected `format` {FORMAT}. Got {found}: it is of another version")
        state = msgspec.convert(fields, CampaignState)
        missing = [key for key in ("measured", "failed", "pending", "rounds") if key not in fields]
        if missing:
            raise ValueError(f"Expected the keys `{'`, `'.join(missing)}`. The file does not have them")
        _refuse_unknown_keys(CampaignState, [fields])
        _refuse_unknown_keys(Measurement, fields["measured"])
        told = [suggestion for suggested in fields["rounds"] for suggestion in suggested]
        inner = [each for suggestion in told for each in suggestion.get("by_goal", {}).values()]
        _refuse_unknown_keys(Suggestion, [*told, *inner])
        _refuse_unknown_keys(Goal, fields.get("goals", ()))
    except RecursionError:
        reason = "Brackets are nested too deeply"
    except ValueError as error:
        reason = str(error).rstrip(".")
    else:
        return state
    raise ValueError(
        f"Expected {path} to be the state of a campaign. {reason}. Correct the file, or move it away to start a "
        "new campaign."
    )


def _read_object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"The key `{next(key for key in keys if keys.count(key) > 1)}` is there twice")
    return fields


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"Expected finite numbers. Got {name}")


def _refuse_unknown_keys(kind: type, objects: Iterable[Mapping[str, object]]) -> None:
    known = {known.name for known in dataclasses.fields(kind)}
    unknown = next((key for fields in objects for key in fields if key not in known), None)
    if unknown is not None:
        raise ValueError(f"Expected no key `{unknown}`: {kind.__name__} has {', '.join(sorted(known))}")
