from .abilities import BoundsLearner as BoundsLearner
from .abilities import ChoiceForecaster as ChoiceForecaster
from .abilities import Describer as Describer
from .abilities import Explainer as Explainer
from .abilities import Explanation as Explanation
from .abilities import GainForecaster as GainForecaster
from .abilities import LateLearner as LateLearner
from .abilities import NoiseLearner as NoiseLearner
from .abilities import PartsWeigher as PartsWeigher
from .abilities import PriceMinder as PriceMinder
from .abilities import ResultsWeigher as ResultsWeigher
from .base import BaseAgent as BaseAgent
from .conformance import AgentCheckError as AgentCheckError
from .conformance import check_agent as check_agent
from .graph_memory import PLAY_CHANGING_GRAPHS as PLAY_CHANGING_GRAPHS
from .graph_memory import READ_EVERYTHING as READ_EVERYTHING
from .graph_memory import plays_changing_graphs as plays_changing_graphs
from .inputs import derive_streams as derive_streams
from .inputs import masked_argmax as masked_argmax
from .inputs import read_feedback as read_feedback
from .inputs import read_graphs as read_graphs
from .inputs import read_mask as read_mask
from .protocol import LARGEST_REWARD as LARGEST_REWARD
from .protocol import Agent as Agent
from .protocol import BatchAgent as BatchAgent
from .protocol import DivergedError as DivergedError
from .protocol import GraphSetLike as GraphSetLike
from .protocol import MeanPredictor as MeanPredictor
from .protocol import MoleculeSetLike as MoleculeSetLike
from .protocol import Prediction as Prediction
from .protocol import State as State
from .reading import READABLE as READABLE
from .reading import BlindAgentWarning as BlindAgentWarning
from .reading import name_readings as name_readings
from .settings import check_fields as check_fields
from .settings import check_names as check_names
from .settings import describe_fields as describe_fields
from .settings import read_settings as read_settings
from .threads import one_thread as one_thread

__all__ = [
    "LARGEST_REWARD",
    "PLAY_CHANGING_GRAPHS",
    "READABLE",
    "READ_EVERYTHING",
    "Agent",
    "AgentCheckError",
    "BaseAgent",
    "BatchAgent",
    "BlindAgentWarning",
    "BoundsLearner",
    "ChoiceForecaster",
    "Describer",
    "DivergedError",
    "Explainer",
    "Explanation",
    "GainForecaster",
    "GraphSetLike",
    "LateLearner",
    "MeanPredictor",
    "MoleculeSetLike",
    "NoiseLearner",
    "PartsWeigher",
    "Prediction",
    "PriceMinder",
    "ResultsWeigher",
    "State",
    "check_agent",
    "check_fields",
    "check_names",
    "derive_streams",
    "describe_fields",
    "masked_argmax",
    "name_readings",
    "one_thread",
    "plays_changing_graphs",
    "read_feedback",
    "read_graphs",
    "read_mask",
    "read_settings",
]
