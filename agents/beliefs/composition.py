"""Join a model and an acquisition rule into an agent with one flat set of settings."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar, cast, get_type_hints, overload

from agents.contract.settings import describe_fields, read_settings

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

P = ParamSpec("P")
A_co = TypeVar("A_co", covariant=True)


class Factory(Protocol[P, A_co]):
    """Make an agent from its settings, which mypy and editors can check, or from a preset."""

    @overload
    def __call__(self, *args: P.args, **settings: P.kwargs) -> A_co: ...
    @overload
    def __call__(self, *, preset: str, **settings: Any) -> A_co: ...


def compose(
    name: str,
    model: Callable[..., A_co],
    settings: Callable[P, DataclassInstance],
    rule: type[DataclassInstance] | None = None,
) -> Factory[P, A_co]:
    """Join a model and an acquisition rule into a function that makes agents.

    Args:
        name: name of the agent.
        model: function of `settings` (annotated with its dataclass), of `make_rule` if there is a rule, and optionally
            of keywords that are not settings, such as a module or an array.
        settings: the frozen dataclass of the agent's settings: that of the model, or an extension with settings of the
            rule or other defaults.
        rule: an `AcquisitionRule`, which is a dataclass. Its fields are set to the settings of the same names. Fields
            without a setting keep their defaults. None if the agent has no rule.

    Returns:
        A function of keyword settings, `preset` and the model's own keywords, with all of them in its signature.

    Raises:
        TypeError: if `settings` do not extend those of the model, or model and rule have a setting of the same name.
    """
    settings_class, base = cast("type[DataclassInstance]", settings), get_type_hints(model)["settings"]
    if not isinstance(settings, type) or not issubclass(settings, base):
        raise TypeError(f"Expected settings of {name}, a dataclass that extends {base.__name__}. Got {settings!r}.")
    of_rule = {field.name for field in dataclasses.fields(rule) if field.init} if rule else set()
    twice = of_rule.intersection(field.name for field in dataclasses.fields(base))
    if twice:
        raise TypeError(f"Expected settings of rule and model with different names. {name} has `{min(twice)}` twice.")
    offered = of_rule.intersection(field.name for field in dataclasses.fields(settings_class))
    own = [p for p in inspect.signature(model).parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]

    def make(**given: Any) -> A_co:
        extras = {parameter.name: given.pop(parameter.name) for parameter in own if parameter.name in given}
        chosen = read_settings(settings_class, given)
        rules = [partial(rule, **{setting: getattr(chosen, setting) for setting in offered})] if rule else []
        for make_rule in rules:
            make_rule()  # raises on bad values before anything is made
        agent = model(chosen, *rules, **extras)
        vars(agent)["name"] = name
        return agent

    make.__name__ = make.__qualname__ = name.replace("-", "_")
    make.__doc__ = _describe(name, model, rule, settings_class)
    make.__signature__ = _signature(settings_class, own)  # type: ignore[attr-defined]
    return cast("Factory[P, A_co]", make)


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
    name: str, model: Callable[..., object], rule: type[DataclassInstance] | None, settings: type[DataclassInstance]
) -> str:
    wrap = textwrap.TextWrapper(116, initial_indent="    ", subsequent_indent="        ")
    texts, names = describe_fields(settings), [field.name for field in dataclasses.fields(settings)]
    parts = [("Model", model), *([("Rule", rule)] if rule else [])]
    head = [f"{part}: {[*(inspect.getdoc(one) or '').splitlines(), ''][0]}" for part, one in parts]
    lines = [wrap.fill(f"{name}: {' '.join(texts.get(name, '').split())}") for name in names]
    return "\n".join([f"Make `{name}`.", "", *head, *(["", "Args:", *lines] if lines else [])])
