"""Play uncounted rounds before the first repetition of each kind, so that times are those of the play alone."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

import registry
from graph_bandit_lab.design.own_graphs import to_arguments
from graph_bandit_lab.design.plan import Repetition
from graph_bandit_lab.episodes.loop import run_bandit

GRAPHS, NODES, ROUNDS = 4, 5, 3  # at most, of the small instance

_warm: set[tuple[str, str]] = set()  # kinds of agent and environment that this process has played


def warm_up(repetition: Repetition) -> None:
    """Play a few rounds on a small instance of the same kind, once a process, and keep nothing of them.

    The first rounds of an agent import and compile code in each process; that time is not counted. Instance and agent
    are separate ones with their own generators, so no play changes.
    """
    from agents.contract import one_thread  # which imports torch

    key = repetition.key
    kind = key.agent_kind, key.environment_kind
    if kind in _warm:
        return
    _warm.add(kind)
    try:
        with one_thread():
            own = repetition.read_graphs()
            small = to_arguments(key.environment | _small(key.environment), own and own.first(GRAPHS))
            env = registry.make_environment(**small)
            agent = repetition.make_agent()
            run_bandit(env, agent, feedback=replace(repetition.feedback, random_rounds=0))
            env.close()
    except KeyboardInterrupt:
        raise
    except BaseException:  # what is wrong with an agent is reported where it plays
        logging.getLogger(__name__).debug("The warm-up of %s raised.", repetition.label, exc_info=True)


def _small(environment: Mapping[str, int | Sequence[int] | None]) -> dict[str, object]:
    """Return the settings in which a small instance differs."""
    limits = {"num_graphs": GRAPHS, "num_nodes": NODES, "actions_per_round": GRAPHS}
    given = {name: environment.get(name) for name in limits}
    sizes = {
        name: [min(bound, limits[name]) for bound in value] if isinstance(value, Sequence) else min(value, limits[name])
        for name, value in given.items()
        if value is not None
    }
    return {**sizes, "horizon": ROUNDS, "replacement": True}
