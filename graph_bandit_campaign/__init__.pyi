from .backtest.run import run_backtest as run_backtest
from .backtest.settings import BacktestSettings as BacktestSettings
from .campaign import AgentChangedWarning as AgentChangedWarning
from .campaign import Campaign as Campaign
from .command.library import write_library as write_library
from .command.settings import SuggestSettings as SuggestSettings
from .command.suggestions import suggest as suggest
from .goals.goal import Goal as Goal
from .limits.limits import Limits as Limits
from .outlook.outlook import Outlook as Outlook
from .outlook.repeats import Repeat as Repeat
from .pages.notebook import Predictions as Predictions
from .pages.notebook import Suggestions as Suggestions
from .prepared.making.run import prepare as prepare
from .prepared.pool import PreparedPool as PreparedPool
from .prepared.settings import PrepareSettings as PrepareSettings
from .reasons.reason import Reason as Reason
from .state import CampaignState as CampaignState
from .state import Measurement as Measurement
from .state import Suggestion as Suggestion

__version__: str
__all__ = [
    "AgentChangedWarning",
    "BacktestSettings",
    "Campaign",
    "CampaignState",
    "Goal",
    "Limits",
    "Measurement",
    "Outlook",
    "Predictions",
    "PrepareSettings",
    "PreparedPool",
    "Reason",
    "Repeat",
    "SuggestSettings",
    "Suggestion",
    "Suggestions",
    "prepare",
    "run_backtest",
    "suggest",
    "write_library",
]
