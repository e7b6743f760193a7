from .backtest.run import run_backtest as run_backtest
from .backtest.settings import BacktestSettings as BacktestSettings
from .campaign import Campaign as Campaign
from .command.library import write_library as write_library
from .command.library import write_products as write_products
from .command.settings import SuggestSettings as SuggestSettings
from .command.suggestions import suggest as suggest
from .constraints.goals.goal import Goal as Goal
from .constraints.limits.limits import Limits as Limits
from .file import digest_of as digest_of
from .file import read_state as read_state
from .model.learner import AgentChangedWarning as AgentChangedWarning
from .model.reasons import Reason as Reason
from .model.stopping import Outlook as Outlook
from .model.stopping import Repeat as Repeat
from .notebook import Predictions as Predictions
from .notebook import Suggestions as Suggestions
from .notebook import draw_molecule as draw_molecule
from .pool.prepared.making.run import prepare as prepare
from .pool.prepared.pool import PreparedPool as PreparedPool
from .pool.prepared.settings import PrepareSettings as PrepareSettings
from .results.measurement import Measurement as Measurement
from .screening.run import screen as screen
from .screening.settings import ScreenSettings as ScreenSettings
from .state import CampaignState as CampaignState
from .state import Suggestion as Suggestion

__version__: str
