"""An agent is a model and a rule: how the two are joined, with one flat set of settings."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from agents.contract.protocol import Agent
from agents.contract.settings import read_settings

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Factory = Callable[..., Agent]
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

    Its settings are those of the model and those of the rule side by side, in one frozen dataclass.

    Args:
        name: of the agent.
        model: function of `settings` (annotated with its dataclass), of `make_rule` where there is a rule, and perhaps
            of keywords of its own that are no settings: a module, an array.
        rule: an `AcquisitionRule`, which is a dataclass; None for an agent that has none.
        defaults: where this pair departs from those of model and rule.
        preset_changes: what this pair changes in every preset of the model.
        fixed: settings of the rule that this pair does not offer.

    Returns:
        A function of keyword settings, `preset` and the model's own keywords, with a signature that shows them all.

    Raises:
        TypeError: if model and rule have a setting of the same name.
    """
    settings_class = get_type_hints(model)["settings"]
    if rule is not None:
        settings_class = join_settings(name, settings_class, rule, defaults, preset_changes, fixed)
    own = [p for p in inspect.signature(model).parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]

    def make(**given: Any) -> Agent:
        extras = {parameter.name: given.pop(parameter.name) for parameter in own if parameter.name in given}
        settings = read_settings(settings_class, given)
        if rule is None:
            return model(settings, **extras)
        chosen = {name: getattr(settings, name, fixed.get(name)) for name in fields_of(rule)}
        rule(**chosen)  # which refuses what it cannot take before anything is made
        return model(settings, partial(rule, **chosen), **extras)

    make.__name__ = make.__qualname__ = name.replace("-", "_")
    make.__doc__ = " ".join([f"Make `{name}`.", _first_line(model), *([_first_line(rule)] if rule else [])])
    make.__signature__ = _signature(settings_class, own)  # type: ignore[attr-defined]
    return make


def join_settings(
    name: str,
    base: type[DataclassInstance],
    rule: type[DataclassInstance],
    defaults: Mapping[str, object],
    preset_changes: Mapping[str, object],
    fixed: Mapping[str, object],
) -> type[DataclassInstance]:
    """Make the dataclass of an agent's settings: those of its model, extended by those of its rule."""
    known = {field.name for field in dataclasses.fields(base)}
    hints = get_type_hints(base) | get_type_hints(rule)
    added = [field for name, field in fields_of(rule).items() if name not in fixed]
    twice = sorted(known & {field.name for field in added})
    if twice:
        raise TypeError(f"Expected settings of rule and model with different names. {name} has `{twice[0]}` twice.")
    fields = [(field.name, hints[field.name], defaults.get(field.name, field.default)) for field in added]
    fields += [(changed, hints[changed], value) for changed, value in defaults.items() if changed in known]
    presets = {preset: {**values, **preset_changes} for preset, values in getattr(base, "presets", {}).items()}
    namespace = {
        "__doc__": f"Settings of {name}.",
        "__module__": __name__,
        "presets": presets,
        "described_by": (base, rule),
    }
    title = "".join(part.capitalize() for part in name.split("-")) + "Settings"
    return dataclasses.make_dataclass(title, fields, bases=(base,), namespace=namespace, frozen=True, kw_only=True)


def fields_of(rule: type[DataclassInstance]) -> dict[str, dataclasses.Field[Any]]:
    """Return the settings of a rule by name: its fields with `init`."""
    return {field.name: field for field in dataclasses.fields(rule) if field.init}


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


def _first_line(described: object) -> str:
    return (inspect.getdoc(described) or "").split("\n")[0]
