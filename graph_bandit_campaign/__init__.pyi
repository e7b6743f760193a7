from .backtest.run import run_backtest as run_backtest
from .backtest.settings import BacktestSettings as BacktestSettings
from .campaign import AgentChangedWarning as AgentChangedWarning
from .campaign import Campaign as Campaign
from .library import write_library as write_library
from .limits.limits import Limits as Limits
from .limits.selection import Selection as Selection
from .limits.selection import Step as Step
from .outlook.outlook import Outlook as Outlook
from .outlook.repeats import Repeat as Repeat
from .settings import SuggestSettings as SuggestSettings
from .state import CampaignState as CampaignState
from .state import Measurement as Measurement
from .state import Suggestion as Suggestion
from .suggestions import suggest as suggest

__version__: str
__all__ = [
    "AgentChangedWarning",
    "BacktestSettings",
    "Campaign",
    "CampaignState",
    "Limits",
    "Measurement",
    "Outlook",
    "Repeat",
    "Selection",
    "Step",
    "SuggestSettings",
    "Suggestion",
    "run_backtest",
    "suggest",
    "write_library",
]
