"""The model of molecules. It plays on a set of molecules only, with `reset(..., graph_set=molecules)`."""

from __future__ import annotations

from collections.abc import Callable

from agents.beliefs.rules.rule import AcquisitionRule
from agents.molecule.agent import MoleculeAgent
from agents.molecule.settings import MoleculeSettings


def molecule(settings: MoleculeSettings, make_rule: Callable[[], AcquisitionRule]) -> MoleculeAgent:
    """A Gaussian process on fingerprints, properties and the tangent features of a trained network.

    Args:
        settings: of kernel, training and choice.
        make_rule: makes the acquisition rule.
    """
    return MoleculeAgent(settings, make_rule)
