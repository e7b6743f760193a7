"""Join a model and an acquisition rule into an agent with one flat set of settings."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_type_hints

from agents.contract.protocol import Agent
from agents.contract.settings import check_names, describe_fields, read_settings

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Factory = Callable[..., Agent]
Pairs: TypeAlias = tuple[tuple[str, object], ...]
NOTHING: Mapping[str, object] = MappingProxyType({})


def compose(
    name: str,
    model: Factory,
    rule: type[DataclassInstance] | None = None,
    defaults: Mapping[str, object] = NOTHING,
    preset_changes: Mapping[str, object] = NOTHING,
    fixed: Mapping[str, object] = NOTHING,
) -> Factory:
    """Join a model and an acquisition rule into a function that makes agents.

    The settings of the agent are those of the model and of the rule, in one frozen dataclass.

    Args:
        name: name of the agent.
        model: function of `settings` (annotated with its dataclass), of `make_rule` if there is a rule, and optionally
            of keywords that are not settings, such as a module or an array.
        rule: an `AcquisitionRule`, which is a dataclass; None for an agent without a rule.
        defaults: defaults of settings that differ for this pair.
        preset_changes: settings that this pair changes in every preset of the model.
        fixed: settings of the rule that this pair fixes and does not offer.

    Returns:
        A function of keyword settings, `preset` and the model's own keywords; its signature shows them all.

    Raises:
        TypeError: if model and rule have a setting of the same name, or mappings are given without a rule.
        ValueError: if a mapping names an unknown setting.
    """
    settings_class: type[DataclassInstance] = get_type_hints(model)["settings"]
    if rule is not None:
        pairs = (tuple(mapping.items()) for mapping in (defaults, preset_changes, fixed))
        settings_class = join_settings(name, settings_class, rule, *pairs)
    elif defaults or preset_changes or fixed:
        raise TypeError(f"Expected a rule for {name}, whose settings the mappings change. Got none.")
    own = [p for p in inspect.signature(model).parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]

    def make(**given: Any) -> Agent:
        extras = {parameter.name: given.pop(parameter.name) for parameter in own if parameter.name in given}
        settings = read_settings(settings_class, given)
        if rule is None:
            return model(settings, **extras)
        chosen = {name: getattr(settings, name, fixed.get(name)) for name in fields_of(rule)}
        rule(**chosen)  # refuses bad values before anything is made
        return model(settings, partial(rule, **chosen), **extras)

    make.__name__ = make.__qualname__ = name.replace("-", "_")
    make.__doc__ = _describe(name, model, rule, settings_class)
    make.__signature__ = _signature(settings_class, own)  # type: ignore[attr-defined]
    return make


@cache
def join_settings(
    name: str,
    base: type[DataclassInstance],
    rule: type[DataclassInstance],
    defaults: Pairs,
    changes: Pairs,
    fixed: Pairs,
) -> type[DataclassInstance]:
    """Make the dataclass of an agent's settings: the settings of its model, extended by those of its rule."""
    inherited, added = {field.name for field in dataclasses.fields(base)}, fields_of(rule)
    twice = sorted(inherited & added.keys())
    if twice:
        raise TypeError(f"Expected settings of rule and model with different names. {name} has `{twice[0]}` twice.")
    check_names(dict(fixed), list(added))
    check_names(dict(defaults + changes), [*inherited, *added])
    hints, own = get_type_hints(base) | get_type_hints(rule), dict(defaults)
    kept = {key: field for key, field in added.items() if key not in dict(fixed)}
    fields = [(key, hints[key], own.get(key, field.default)) for key, field in kept.items()]
    fields += [(key, hints[key], value) for key, value in defaults if key in inherited]
    namespace = {
        "__doc__": f"Settings of {name}.",
        "__module__": __name__,
        "__reduce__": _reduce,
        "presets": {preset: {**values, **dict(changes)} for preset, values in getattr(base, "presets", {}).items()},
        "described_by": (base, rule),
        "joined_from": (name, base, rule, defaults, changes, fixed),
    }
    title = "".join(part.capitalize() for part in name.split("-")) + "Settings"
    return dataclasses.make_dataclass(title, fields, bases=(base,), namespace=namespace, frozen=True, kw_only=True)


def fields_of(rule: type[DataclassInstance]) -> dict[str, dataclasses.Field[Any]]:
    """Return the settings of a rule by name: its fields that `__init__` takes."""
    return {field.name: field for field in dataclasses.fields(rule) if field.init}


def _reduce(settings: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Tell pickle how to rebuild these settings, because their class cannot be imported by name."""
    return _rebuild, (settings.joined_from, dataclasses.asdict(settings))


def _rebuild(joined_from: tuple[Any, ...], values: dict[str, Any]) -> DataclassInstance:
    return join_settings(*joined_from)(**values)


def _signature(settings_class: type[DataclassInstance], own: list[inspect.Parameter]) -> inspect.Signature:
    hints = get_type_hints(settings_class)
    keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    presets = tuple(getattr(settings_class, "presets", ()))
    preset = [keyword("preset", default=None, annotation=Literal[presets] | None)] if presets else []
    mine = {parameter.name for parameter in own}
    fields = [
        keyword(field.name, default=field.default, annotation=hints[field.name])
        for field in dataclasses.fields(settings_class)
        if field.name not in mine
    ]
    return inspect.Signature([*own, *preset, *fields])


def _describe(
    name: str, model: Factory, rule: type[DataclassInstance] | None, settings_class: type[DataclassInstance]
) -> str:
    model_line, *_ = (inspect.getdoc(model) or "").split("\n")
    rule_line, *_ = (inspect.getdoc(rule) or "").split("\n") if rule else [""]
    wrap = textwrap.TextWrapper(116, initial_indent="    ", subsequent_indent="        ")
    texts = describe_fields(settings_class)
    lines = [
        wrap.fill(f"{field.name}: {' '.join(texts.get(field.name, '').split())}")
        for field in dataclasses.fields(settings_class)
    ]
    head = [f"Make `{name}`.", "", f"Model: {model_line}", *([f"Rule: {rule_line}"] if rule else [])]
    return "\n".join([*head, *(["", "Args:", *lines] if lines else [])])
