"""Play an episode of one agent in one environment, and record it."""

from graph_bandit_lab.episodes.feedback import Feedback, choose
from graph_bandit_lab.episodes.findings import DIAGNOSTICS, FINDINGS
from graph_bandit_lab.episodes.loop import episode_seeds, run_bandit
from graph_bandit_lab.episodes.records import BanditResult, RoundRecord
from graph_bandit_lab.episodes.writers import JsonLinesWriter, TensorBoardWriter

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
