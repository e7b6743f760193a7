from .agent import BatchBeliefAgent as BatchBeliefAgent
from .agent import BeliefAgent as BeliefAgent
from .belief import Belief as Belief
from .composition import compose as compose
from .forgetting import least_informative as least_informative
from .forgetting import remember as remember
from .insight import Insight as Insight
from .rewards import History as History
from .rules import AcquisitionRule as AcquisitionRule
from .rules import CountBonus as CountBonus
from .rules import EpsilonGreedy as EpsilonGreedy
from .rules import ExpectedImprovement as ExpectedImprovement
from .rules import Greedy as Greedy
from .rules import Memoryless as Memoryless
from .rules import PhasedElimination as PhasedElimination
from .rules import ThompsonSampling as ThompsonSampling
from .rules import UpperConfidenceBound as UpperConfidenceBound
from .short_list import order_by_digest as order_by_digest
from .short_list import short_list as short_list

__all__ = [
    "AcquisitionRule",
    "BatchBeliefAgent",
    "Belief",
    "BeliefAgent",
    "CountBonus",
    "EpsilonGreedy",
    "ExpectedImprovement",
    "Greedy",
    "History",
    "Insight",
    "Memoryless",
    "PhasedElimination",
    "ThompsonSampling",
    "UpperConfidenceBound",
    "compose",
    "least_informative",
    "order_by_digest",
    "remember",
    "short_list",
]
