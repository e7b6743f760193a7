from .diagnostics import DIAGNOSTICS as DIAGNOSTICS
from .feedback import Feedback as Feedback
from .feedback import choose as choose
from .findings import FINDINGS as FINDINGS
from .loop import episode_seeds as episode_seeds
from .loop import run_bandit as run_bandit
from .records import BanditResult as BanditResult
from .records import RoundRecord as RoundRecord
from .writers import JsonLinesWriter as JsonLinesWriter
from .writers import TensorBoardWriter as TensorBoardWriter

__all__ = [
    "DIAGNOSTICS",
    "FINDINGS",
    "BanditResult",
    "Feedback",
    "JsonLinesWriter",
    "RoundRecord",
    "TensorBoardWriter",
    "choose",
    "episode_seeds",
    "run_bandit",
]
