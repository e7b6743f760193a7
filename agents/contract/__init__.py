"""The contract of an agent: protocol, base class, inputs, settings, saved state, and conformance checks."""

from agents.contract.abilities import (
    ActionProbabilities,
    Correlation,
    LateLearner,
    ModelAgent,
    PlayForecaster,
    SourceResults,
)
from agents.contract.base import BaseAgent, one_thread
from agents.contract.conformance import AgentCheckError, check_agent
from agents.contract.graph_memory import PLAY_CHANGING_GRAPHS, plays_changing_graphs
from agents.contract.inputs import masked_argmax, read_graphs, read_mask
from agents.contract.protocol import (
    Agent,
    BatchAgent,
    DivergedError,
    GraphSetLike,
    MeanPredictor,
    MoleculeSetLike,
    Prediction,
    State,
)
from agents.contract.reading import READABLE, BlindAgentWarning, name_readings
from agents.contract.settings import check_fields, check_names, describe_fields, read_settings

__all__ = [
    "PLAY_CHANGING_GRAPHS",
    "READABLE",
    "ActionProbabilities",
    "Agent",
    "AgentCheckError",
    "BaseAgent",
    "BatchAgent",
    "BlindAgentWarning",
    "Correlation",
    "DivergedError",
    "GraphSetLike",
    "LateLearner",
    "MeanPredictor",
    "ModelAgent",
    "MoleculeSetLike",
    "PlayForecaster",
    "Prediction",
    "SourceResults",
    "State",
    "check_agent",
    "check_fields",
    "check_names",
    "describe_fields",
    "masked_argmax",
    "name_readings",
    "one_thread",
    "plays_changing_graphs",
    "read_graphs",
    "read_mask",
    "read_settings",
]
