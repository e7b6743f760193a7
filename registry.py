"""Names of environments and agents, and where third-party agents plug in. No numerics, no torch at import.

A package of one's own adds an agent by the entry-point group `graph_bandit.agents`, in its pyproject.toml:

    [project.entry-points."graph_bandit.agents"]
    my-agent = "my_package:make_my_agent"

`examples/third_party_agent` is such a package.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points, version
from typing import TYPE_CHECKING, Any

import _graph_bandit_strangers  # noqa: F401 - refuses to run beside another `agents` or `registry`
from agents.zoo import RECIPES

if TYPE_CHECKING:
    import gymnasium as gym

    from agents.contract import Agent as Agent

__all__ = [
    "ENTRY_POINT_GROUP",
    "ENVIRONMENT_ID",
    "AgentFactory",
    "__version__",
    "agent_needs",
    "agent_origin",
    "check_agent",
    "list_agents",
    "make_agent",
    "make_environment",
    "register_agent",
]

__version__ = version("graph-bandit-env")

ENTRY_POINT_GROUP = "graph_bandit.agents"
ENVIRONMENT_ID = "GraphActionBandit-v0"

AgentFactory = Callable[..., "Agent"]


@dataclass(frozen=True)
class Registration:
    """How an agent is made, and where it can play."""

    factory: AgentFactory | EntryPoint
    """Takes keyword settings and returns an agent; an entry point is loaded at the first use."""
    needs: str = "any"
    """What the agent asks of the graph set: "any" set will do, "molecules", or the name of an SB3 wrapper. A factory
    behind an entry point says so by an attribute `needs`."""


_REGISTRATIONS: dict[str, Registration] = {
    name: Registration(
        EntryPoint(name=name, value=f"agents.zoo:{name.replace('-', '_')}", group=ENTRY_POINT_GROUP), recipe.needs
    )
    for name, recipe in RECIPES.items()
}


def make_environment(**settings: Any) -> gym.Env[Any, Any]:
    """Make `GraphActionBandit-v0` with these settings; see `graph_bandit_env.GraphActionBandit` for them."""
    import gymnasium as gym

    import graph_bandit_env  # noqa: F401 - the import registers the environment

    return gym.make(ENVIRONMENT_ID, **settings)


def make_agent(name: str, **settings: Any) -> Agent:
    """Make an agent by name.

    Args:
        name: one of `list_agents()`.
        settings: of that agent; those not given have its defaults.

    Returns:
        The agent; call its `reset` before anything else.

    Raises:
        ValueError: if the name or a setting is unknown (the message shows the nearest), or a value is refused, or two
            installed packages claim the name.
        ImportError: if the agent's package cannot be imported; the message names it.
    """
    factory = _load(name)
    if name not in RECIPES:  # ours refuse what they do not take
        from agents.contract import check_names

        parameters = inspect.signature(factory).parameters
        if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
            check_names(settings, list(parameters))
    return factory(**settings)


def list_agents() -> tuple[str, ...]:
    """Return the names of all agents, those of installed plug-ins too, in alphabetical order."""
    return tuple(sorted(_all()))


def register_agent(name: str, factory: AgentFactory, needs: str = "any") -> None:
    """Add an agent of one's own to this process.

    Args:
        name: by which `make_agent` finds it.
        factory: takes keyword settings and returns an agent.
        needs: "any", "molecules", or the name of an SB3 wrapper.

    Raises:
        ValueError: if the name is taken.
        TypeError: if `factory` cannot be called.
    """
    if name in _all():
        raise ValueError(f"Expected a new name. Got `{name}`, which is taken. `registry.list_agents()` names them all.")
    if not callable(factory):
        raise TypeError(f"Expected `factory` to be callable. Got {factory!r}.")
    _REGISTRATIONS[name] = Registration(factory, needs)


def check_agent(factory: AgentFactory, needs: str = "any") -> None:
    """Hold an agent against the protocol; see `agents.contract.check_agent`.

    Args:
        factory: makes a new agent at each call.
        needs: "any" or "molecules", as where it is registered.

    Raises:
        agents.contract.AgentCheckError: if a check fails; it names every one that does.
    """
    from agents.contract import check_agent as check

    check(factory, needs)


def agent_needs(name: str) -> str:
    """Return what an agent asks of the graph set: "any", "molecules", or the name of an SB3 wrapper."""
    registration = _find(name)
    if isinstance(registration.factory, EntryPoint):
        return str(getattr(_load(name), "needs", registration.needs))
    return registration.needs


def agent_origin(name: str) -> str:
    """Return name and version of the package that an agent comes in; "" for ours, and for what a script registered."""
    factory = _find(name).factory
    return _package_of(factory) if isinstance(factory, EntryPoint) else ""


def _all() -> dict[str, Registration]:
    plugged_in = {point.name: Registration(point) for point in entry_points(group=ENTRY_POINT_GROUP)}
    return {**plugged_in, **_REGISTRATIONS}


def _load(name: str) -> AgentFactory:
    factory = _find(name).factory
    if not isinstance(factory, EntryPoint):
        return factory
    try:
        loaded: AgentFactory = factory.load()
    except Exception as error:  # whatever the import of somebody's package raises
        package = _package_of(factory) or "graph-bandit-env"
        raise ImportError(
            f"Agent `{name}` cannot be imported: {type(error).__name__}: {error}. Repair or uninstall {package}."
        ) from error
    return loaded


def _package_of(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else ""


def _find(name: str) -> Registration:
    registrations = _all()
    if name not in registrations:
        nearest = difflib.get_close_matches(name, registrations, n=1)
        hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
        raise ValueError(f"Unknown agent `{name}`.{hint} Agents: {', '.join(sorted(registrations))}.")
    claims = [point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name == name]
    if len(claims) > 1 or (claims and name in _REGISTRATIONS):
        owners = [_package_of(point) for point in claims] + (["graph-bandit-env"] if name in _REGISTRATIONS else [])
        raise ValueError(f"Expected one agent `{name}`. Got one each of {', '.join(owners)}. Remove or rename one.")
    return registrations[name]
