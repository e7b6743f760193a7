"""Convert keyword settings into a frozen dataclass, refuse unknown ones, and check every field."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

Settings = TypeVar("Settings")

LARGEST_SETTING = 1e100  # its square is finite in float64
LARGEST_COUNT = 10**9  # of any quantity that takes time or memory

# Symbols of settings in papers. If several settings match, the first one that an agent has is used.
SYMBOLS = {"gap_weight": "gamma", "exploration_share": "gamma eta", "exploration_scale": "alpha beta gamma kappa nu"}
SYMBOLS |= {"regularization": "lambda ridge", "noise_variance": "lambda ridge sigma", "learning_rate": "eta lr"}


class Must(NamedTuple):
    """A condition on a setting beyond its type: `width: Annotated[int, Must(is_even, "even")]`."""

    holds: Callable[[Any], bool]
    """Returns True for allowed values. None is always allowed if the field accepts it."""
    expected: str
    """Expected value in the error message."""


def between(least: float, most: float) -> Must:
    """Return the condition that a number lies in a range, both ends included."""
    return Must(lambda value: least <= value <= most, f"from {least} to {most}")


INTEGER = Must(lambda value: isinstance(value, int) and not isinstance(value, bool), "an integer")
NUMBER = Must(lambda value: isinstance(value, (int, float)) and not isinstance(value, bool), "a number")
POSITIVE = Must(lambda value: value > 0, "positive")
REAL = between(-LARGEST_SETTING, LARGEST_SETTING)
"""The mark of a float field that may be negative."""

Warp: TypeAlias = Literal["none", "normal_scores"]
"""Targets of a fit: the rewards, standardised or not, or their normal scores."""
Layers: TypeAlias = Annotated[int, between(2, 100)]
"""Weight matrices of a network. The kernel of a deeper network no longer distinguishes graphs."""
Width: TypeAlias = Annotated[int, Must(lambda width: width % 2 == 0, "even: the network has two mirrored halves")]
"""Hidden units of a network with initial predictions of 0."""
NodeFeaturesName: TypeAlias = Literal["auto", "given"]
NodeCount: TypeAlias = Literal["auto", "largest", "own"]
Bins: TypeAlias = Annotated[int, between(2, 256)]
"""Bins of a node feature."""


def read_settings(settings_class: type[Settings], given: Mapping[str, Any]) -> Settings:
    """Make settings from keywords, one of which may be `preset`.

    Args:
        settings_class: a dataclass that validates itself. Its optional class attribute `presets` holds presets by name.
        given: the user's settings, which override the preset.

    Returns:
        An instance of `settings_class`.

    Raises:
        ValueError: if a setting or the preset is unknown (the message suggests the nearest), or a value is not allowed.
    """
    presets: Mapping[str, Mapping[str, Any]] = getattr(settings_class, "presets", {})
    given = dict(given)
    preset = given.pop("preset", None)
    if preset is not None:
        check_names([preset], [*presets], "preset")
    names = [field.name for field in dataclasses.fields(settings_class)]  # type: ignore[arg-type]
    check_names(given, [*names, "preset"] if presets else names)
    return settings_class(**{**(presets[preset] if preset else {}), **given})


def check_names(given: Iterable[object], known: Sequence[str], kind: str = "setting") -> None:
    """Refuse unknown settings.

    Args:
        given: names from the user.
        known: names of all settings.
        kind: kind of the names, for the message.

    Raises:
        ValueError: if a name of `given` is not in `known`. The message suggests the nearest.
    """
    for name in given:
        if name not in known:
            hint = f" Did you mean `{nearest}`?" if (nearest := _nearest(str(name), known)) else ""
            names = ", ".join(known) or "none"
            raise ValueError(f"Unknown {kind} `{name}`.{hint} {kind.capitalize()}s: {names}.")


def _nearest(name: str, known: Sequence[str]) -> str:
    """Return the known name of a symbol, or a name with similar spelling or containing it."""
    meant = [other for other, symbols in SYMBOLS.items() if other in known and name.strip("_") in symbols.split()]
    containing = [other for other in known if len(name) > 2 and name in other]
    alike = difflib.get_close_matches
    return next(iter(meant or alike(name, known, 1) or containing or alike(name, known, 1, cutoff=0.5)), "")


def describe_fields(settings_class: type) -> dict[str, str]:
    """Return the docstring of each field of a dataclass, inherited from its base if only the default differs."""
    import docstring_parser  # reads the docstrings from the source

    texts: dict[str, str] = {}
    for base in reversed(settings_class.__mro__[:-1]):
        for parameter in docstring_parser.parse_from_object(base).params:
            texts[parameter.arg_name] = parameter.description or texts.get(parameter.arg_name, "")
    return texts


def check_fields(settings: Any) -> None:
    """Check each field of a frozen dataclass against its type, and store numbers as plain int and float.

    A field is a choice, a bool, a str, an int from 1 to 10**9, a float from 0 to 1e100, or a count or a share (`int |
    float`: such an int, or a float between 0 and 1, both excluded), and may allow None. An annotation `Must` adds a
    condition. In a float field 1 and 1.0 both become 1.0, so that equal settings have equal hashes.

    Args:
        settings: the instance; call this from its `__post_init__`.

    Raises:
        ValueError: if a value does not fit its field. The message states the expected value.
    """
    annotations = get_type_hints(type(settings), include_extras=True)
    for name in (field.name for field in dataclasses.fields(settings) if field.init):
        value, conditions = getattr(settings, name), getattr(annotations[name], "__metadata__", ())
        value = value.item() if isinstance(value, np.generic) else value
        hint = get_args(annotations[name])[0] if conditions else annotations[name]
        kinds = get_args(hint) if get_origin(hint) is not Literal and get_args(hint) else (hint,)
        if value is None and NoneType in kinds:
            continue
        wanted = tuple(kind for kind in kinds if kind is not NoneType)
        if get_origin(wanted[0]) is Literal:
            checks = [Must(get_args(wanted[0]).__contains__, f"one of {', '.join(map(str, get_args(wanted[0])))}")]
        else:
            checks = [NUMBER] if REAL in conditions else [*_CHECKS[wanted]]
        for condition in (*checks, *conditions):
            if not condition.holds(value):
                expected = condition.expected + (" or None" if NoneType in kinds else "")
                got = repr(value) if type(value) is not int or abs(value) < 10**20 else "one of more than 20 digits"
                raise ValueError(f"Expected `{name}` to be {expected}. Got {got}.")
        object.__setattr__(settings, name, float(value) if wanted == (float,) else value)


def _is_count_or_share(value: Any) -> bool:
    return 1 <= value <= LARGEST_COUNT if isinstance(value, int) else 0 < value < 1


def check_warp(warp: Warp, standardize: bool) -> None:
    """Refuse to warp rewards that are not standardised.

    Raises:
        ValueError: if `warp` is set without `standardize`.
    """
    if warp != "none" and not standardize:
        raise ValueError(f"Expected `standardize` with `warp`, which sets the scale of its targets. Got {warp!r}.")


_CHECKS: dict[tuple[type, ...], tuple[Must, ...]] = {
    (bool,): (Must(lambda value: isinstance(value, bool), "True or False"),),
    (str,): (Must(lambda value: isinstance(value, str), "a string"),),
    (int,): (INTEGER, between(1, LARGEST_COUNT)),
    (float,): (NUMBER, between(0, LARGEST_SETTING)),
    (int, float): (NUMBER, Must(_is_count_or_share, "an integer of at least 1, or a number above 0 and below 1")),
}
