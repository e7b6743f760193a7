"""Constructors whose arguments are the fields of a dataclass, which alone declares and describes them.

`Unpack[TypedDict]` would have no defaults, and each environment and the laboratory would have to repeat an explicit
signature. mypy and IDEs see the fields through a `ParamSpec`; `help()` shows them by `__signature__` and the docstring.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import textwrap
from collections.abc import Callable
from functools import update_wrapper, wraps
from typing import Concatenate, ParamSpec, TypeVar

import docstring_parser

REASON = "reason"
"""Metadata key of a field that its class fixes (`init=False`): says why it is not an argument."""
SYMBOLS = {
    "T": "horizon",
    "K": "num_graphs",
    "N": "num_nodes",
    "d": "feature_dim",
    "p": "edge_prob",
    "sigma": "noise_std",
    "seed": "reset(seed=...)",
}
"""Arguments by their symbols in papers; a seed is no argument."""

Arguments = TypeVar("Arguments")
Fields = ParamSpec("Fields")
Instance = TypeVar("Instance")
Kind = TypeVar("Kind", bound=type)


def name_nearest(kind: Kind) -> Kind:
    """Make the constructor of a dataclass suggest the nearest argument when it is given an unknown one."""
    init = vars(kind)["__init__"]
    fields = {field.name: field for field in dataclasses.fields(kind)}
    taken = [name for name, field in fields.items() if field.init]

    @wraps(init)
    def checked(self: object, *args: object, **given: object) -> None:
        for name in given:
            if name in fields and name not in taken:
                raise TypeError(f"Expected no argument `{name}`: {fields[name].metadata[REASON]}")
            if name not in fields:
                nearest = [SYMBOLS[name]] if name in SYMBOLS else difflib.get_close_matches(name, taken, n=1)
                hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
                python = f"{kind.__name__}.__init__() got an unexpected keyword argument {name!r}"
                # Python's words, too: programs that try an argument look for them, TorchRL's GymEnv for example.
                raise TypeError(f"Unknown argument `{name}`.{hint} Arguments: {', '.join(taken)}. ({python})")
        init(self, *args, **given)

    type.__setattr__(kind, "__init__", checked)
    return kind


def takes(
    kind: Callable[Fields, Arguments],
) -> Callable[[Callable[[Instance, Arguments], None]], Callable[Concatenate[Instance, Fields], None]]:
    """Turn a constructor that takes a dataclass into one that takes the fields of the dataclass."""
    signature = inspect.signature(kind)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = signature.replace(parameters=[own, *signature.parameters.values()])

    def decorate(init: Callable[[Instance, Arguments], None]) -> Callable[Concatenate[Instance, Fields], None]:
        def constructor(self: Instance, /, *args: Fields.args, **given: Fields.kwargs) -> None:
            init(self, kind(*args, **given))

        update_wrapper(constructor, init)
        vars(constructor).update(__signature__=signature)
        return constructor

    return decorate


def describes(arguments: type) -> Callable[[Kind], Kind]:
    """Add the docstrings of the fields of a dataclass, inherited ones too, to the docstring of a class."""
    texts: dict[str, str] = {}
    for base in reversed(arguments.__mro__[:-1]):
        params = docstring_parser.parse_from_object(base).params
        texts |= {param.arg_name: " ".join((param.description or "").split()) for param in params}
    wrap = textwrap.TextWrapper(116, initial_indent="    ", subsequent_indent="        ")
    lines = [wrap.fill(f"{field.name}: {texts.get(field.name, '')}") for field in dataclasses.fields(arguments)]

    def decorate(kind: Kind) -> Kind:
        if kind.__doc__:  # `python -OO` removes docstrings
            kind.__doc__ = "\n".join([inspect.cleandoc(kind.__doc__), "", "Args:", *lines])
        return kind

    return decorate
