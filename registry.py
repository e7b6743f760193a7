"""Make environments and agents by name, and register agents of other packages. Importing this does not import torch.

A package adds an agent by the entry-point group `graph_bandit.agents` in its pyproject.toml:

    [project.entry-points."graph_bandit.agents"]
    my-agent = "my_package:make_my_agent"

`examples/third_party_agent` is such a package. An agent of one file needs no package: its name is
`my_file:make_my_agent`, the file is in the working folder or on Python's path, and `make_my_agent` is decorated with
`@registry.agent_factory`. `admit_agent` imports it, for a name from a user. No other function here imports the module
of a name, because names also come from files, and a file must never run code.
"""

from __future__ import annotations

import difflib
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import EntryPoint, entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import agents

if Path(str(agents.__file__)).parent != Path(__file__).with_name("agents") or not hasattr(agents, "LARGEST_REWARD"):
    raise ImportError(
        f"Expected `agents` of graph-bandit-env. Got another package, {agents.__file__}. If the file is yours, "
        "rename it or start Python with -P. Otherwise install graph-bandit-env in a separate environment."
    )

from agents.zoo import FAMILIES

if TYPE_CHECKING:
    import gymnasium as gym

    from agents.contract import Agent as Agent

__all__ = [
    "ENTRY_POINT_GROUP",
    "ENVIRONMENT_ID",
    "AgentFactory",
    "__version__",
    "admit_agent",
    "agent_factory",
    "agent_needs",
    "agent_origin",
    "agent_plays_changing_graphs",
    "check_agent",
    "check_name",
    "list_agents",
    "make_agent",
    "make_environment",
    "names_a_file",
    "register_agent",
    "registered_agents",
]
__dir__ = __all__.copy  # `dir(registry)` shows the public names

__version__ = version("graph-bandit-env")

ENTRY_POINT_GROUP = "graph_bandit.agents"
"""Entry-point group by which packages add agents."""
ENVIRONMENT_ID = "GraphActionBandit-v0"
"""Id of the environment in Gymnasium."""

AgentFactory = Callable[..., "Agent"]
"""A function that takes keyword settings and returns an agent."""
Declared = TypeVar("Declared", bound=AgentFactory)


@dataclass(frozen=True)
class Registration:
    """The factory of an agent, and the graph sets on which it can play."""

    factory: AgentFactory | EntryPoint
    """Takes keyword settings and returns an agent. An entry point is loaded on first use. It need not be of this class,
    because the backport `importlib_metadata`, once imported, yields its own class."""
    needs: str = "any"
    """Graph sets on which the agent can play: "any", "molecules", or the name of an SB3 wrapper. The factory of an
    entry point declares it as an attribute `needs`."""


_OURS: dict[str, Registration] = {
    name: Registration(
        EntryPoint(name, f"agents.zoo.{family}:{name.replace('-', '_')}", ENTRY_POINT_GROUP),
        needs="molecules" if family == "molecule" else "any",
    )
    for family, names in FAMILIES.items()
    for name in names
}
_REGISTRATIONS: dict[str, Registration] = dict(_OURS)
_ADMITTED: dict[str, Registration] = {}  # agents of files, by names of the form `module:factory`


def make_environment(**settings: Any) -> gym.Env[Any, Any]:
    """Make the environment `GraphActionBandit-v0`, without Gymnasium's passive checker.

    Args:
        settings: keyword settings of `graph_bandit_env.GraphActionBandit`.
    """
    import gymnasium as gym

    import graph_bandit_env  # noqa: F401 - the import registers the environment

    return gym.make(ENVIRONMENT_ID, disable_env_checker=True, **settings)


def make_agent(name: str, **settings: Any) -> Agent:
    """Make an agent by name.

    Args:
        name: one of `list_agents()`, or a name that `admit_agent` was given in this process.
        settings: settings of that agent. Others keep their defaults.

    Returns:
        The agent. Call its `reset` before any other method.

    Raises:
        ValueError: if the name or a setting is unknown (the message suggests the nearest), a value is not allowed, two
            installed packages claim the name, or it is of the form `module:factory` and was not admitted.
        ImportError: if the agent's package cannot be imported. The message names the package.
    """
    factory = _load(name)
    if name not in _OURS:  # our own factories refuse unknown settings themselves
        from agents.contract import check_names

        parameters = inspect.signature(factory).parameters
        if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
            check_names(settings, list(parameters))
    return factory(**settings)


def list_agents() -> tuple[str, ...]:
    """Return the names of all agents, including those of installed packages, in alphabetical order."""
    return tuple(sorted(_all()))


def register_agent(name: str, factory: AgentFactory, needs: str = "any") -> None:
    """Register your own agent for this process.

    Args:
        name: name to pass to `make_agent`.
        factory: takes keyword settings and returns an agent.
        needs: graph sets on which the agent can play: "any", "molecules", or the name of an SB3 wrapper.

    Raises:
        ValueError: if the name is taken.
        TypeError: if `factory` cannot be called.
    """
    if name in _all():
        raise ValueError(f"Expected a new name. Got `{name}`, which is taken. `registry.list_agents()` names them all.")
    if not callable(factory):
        raise TypeError(f"Expected `factory` to be callable. Got {factory!r}.")
    _REGISTRATIONS[name] = Registration(factory, needs)


def registered_agents() -> tuple[str, ...]:
    """Return the names that `register_agent` added in this process, in alphabetical order."""
    return tuple(sorted(_REGISTRATIONS.keys() - _OURS.keys()))


@overload
def agent_factory(factory: Declared, /) -> Declared: ...
@overload
def agent_factory(*, needs: str) -> Callable[[Declared], Declared]: ...
def agent_factory(factory: AgentFactory | None = None, /, *, needs: str = "any") -> Any:
    """Declare a function or class as a factory of agents, so that it can be named as `module:factory`.

    It is a decorator: `@agent_factory`, or `@agent_factory(needs="molecules")`. It only sets the attribute `needs`.

    Args:
        factory: takes keyword settings and returns an agent.
        needs: graph sets on which the agent can play, as in `register_agent`.
    """
    if factory is None:
        return partial(agent_factory, needs=needs)
    factory.needs = needs  # type: ignore[attr-defined]
    return factory


def admit_agent(name: str) -> None:
    """Import the agent of a file named by a user, for this process. This runs the code of the file.

    Pass only names typed by a user. Names from files are not admitted, and `make_agent` refuses them.

    Args:
        name: `module:factory`. The module is in the working folder or on Python's path, and the factory is declared by
            `agent_factory`. The name of a registered agent has no effect.

    Raises:
        ValueError: if the name is unknown, or the object of this name is not declared as a factory.
        ImportError: if the module cannot be imported, or does not have the object.
    """
    if name in _ADMITTED or name in _all() or not names_a_file(name):
        check_name(name)
        return
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # last, so that it does not shadow our modules
    try:
        factory = EntryPoint(name=name, value=name, group=ENTRY_POINT_GROUP).load()
    except Exception as error:  # importing another file may raise any exception
        raise ImportError(
            f"Agent `{name}` cannot be imported: {type(error).__name__}: {error}. Expected `module:factory`, with "
            f"the module in {os.getcwd()} or on Python's path."
        ) from error
    needs = getattr(factory, "needs", None)
    if not (callable(factory) and isinstance(needs, str)):
        raise ValueError(
            f"Expected `{name}` to be declared as a function that makes agents. Got {type(factory).__name__} "
            "without that. If it is one, write `@registry.agent_factory` in the line above it, and `import registry`."
        )
    _ADMITTED[name] = Registration(factory, needs)


def check_name(name: str) -> None:
    """Refuse an agent that is neither registered nor admitted, without importing it.

    Raises:
        ValueError: as in `make_agent`, for the name alone.
    """
    _find(name)


def check_agent(factory: AgentFactory | str, needs: str = "any") -> str:
    """Check that an agent follows the protocol (see `agents.contract.check_agent`).

    Args:
        factory: makes a new agent at each call, or the name of an agent, as in `make_agent`, with known needs.
        needs: "any" or "molecules", as in `register_agent`.

    Returns:
        A summary line, a line on the parts of a graph that the agent reads, and a line for each check.

    Raises:
        agents.contract.AgentCheckError: if a check fails. The message lists all failed checks.
        ValueError: if there is no agent of this name.
    """
    from agents.contract import check_agent as check

    title = factory if isinstance(factory, str) else getattr(factory, "__name__", type(factory).__name__)
    if isinstance(factory, str):
        needs, factory = agent_needs(factory), partial(make_agent, factory)
    first = f"{title} follows the protocol of `agents.contract.Agent`: all checks passed (needs: {needs})."
    return "\n".join([first, *check(factory, needs)])


def agent_needs(name: str) -> str:
    """Return the graph sets on which an agent can play: "any", "molecules", or the name of an SB3 wrapper.

    Args:
        name: one of `list_agents()`.
    """
    registration = _find(name)
    if callable(registration.factory) or name in _OURS:  # ours would import torch
        return registration.needs
    return str(getattr(_load(name), "needs", registration.needs))


def agent_origin(name: str) -> str:
    """Return name and version of the package that provides an agent, or "" for our agents and for registered ones.

    Args:
        name: one of `list_agents()`.
    """
    factory = _find(name).factory
    return "" if callable(factory) else _package_of(factory)


def agent_plays_changing_graphs(name: str) -> bool | None:
    """Return True if an agent plays on graphs that change between rounds, or None for an agent of another package.

    Args:
        name: one of `list_agents()`.
    """
    from agents.contract import plays_changing_graphs

    return plays_changing_graphs(name) if name in _OURS else None


def _all() -> dict[str, Registration]:
    return {**{point.name: Registration(point) for point in _plugged_in()}, **_REGISTRATIONS}


def _plugged_in() -> tuple[EntryPoint, ...]:
    return _read_entry_points(tuple((folder, _changed(folder)) for folder in sys.path))


@lru_cache(maxsize=1)
def _read_entry_points(folders: tuple[tuple[str, int], ...]) -> tuple[EntryPoint, ...]:
    """Read the entry points of installed packages again after a change of a folder of `sys.path`, which takes 12 ms."""
    return tuple(entry_points(group=ENTRY_POINT_GROUP))


def _changed(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


def _load(name: str) -> AgentFactory:
    factory = _find(name).factory
    if callable(factory):
        return factory
    try:
        return cast("AgentFactory", factory.load())
    except Exception as error:  # importing another package may raise any exception
        package = _package_of(factory) or "graph-bandit-env"
        raise ImportError(
            f"Agent `{name}` cannot be imported: {type(error).__name__}: {error}. Repair or uninstall {package}."
        ) from error


def _package_of(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else ""


def names_a_file(name: str) -> bool:
    """Return True if a name has the form `module:factory`, which is admitted rather than registered."""
    module, colon, factory = name.partition(":")
    return bool(colon) and factory.isidentifier() and all(part.isidentifier() for part in module.split("."))


def _find(name: str) -> Registration:
    registrations = _all()
    if name in _ADMITTED and name not in registrations:
        return _ADMITTED[name]
    if name not in registrations and names_a_file(name):
        raise ValueError(
            f"Expected an agent that is registered, or that you name yourself. Got `{name}`: a name that is read from "
            f"a file never loads code. If you know `{name.partition(':')[0]}`, name it by `--agents {name}` ("
            "`--agent` of `suggest`; `--admit` for what a sweep file lists), or in Python by `Campaign(agent=...)`, "
            f'`RunSettings(agents=...)` or `registry.admit_agent("{name}")`.'
        )
    if name not in registrations:
        nearest = difflib.get_close_matches(name.partition(":")[0], registrations, n=1)
        hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
        hint += " Settings are arguments, as in `make_agent(name, exploration_scale=2)`." if ":" in name else ""
        raise ValueError(f"Unknown agent `{name}`.{hint} Agents: {', '.join(sorted(registrations))}.")
    claims = [point for point in _plugged_in() if point.name == name]
    if len(claims) > 1 or (claims and name in _REGISTRATIONS):
        owners = [_package_of(point) for point in claims] + (["graph-bandit-env"] if name in _REGISTRATIONS else [])
        raise ValueError(f"Expected one agent `{name}`. Got one each of {', '.join(owners)}. Remove or rename one.")
    return registrations[name]
