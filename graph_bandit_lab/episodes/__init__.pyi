from .diagnostics import DIAGNOSTICS as DIAGNOSTICS
from .feedback import Feedback as Feedback
from .findings import FINDINGS as FINDINGS
from .loop import BanditResult as BanditResult
from .loop import run_bandit as run_bandit

__all__ = ["DIAGNOSTICS", "FINDINGS", "BanditResult", "Feedback", "run_bandit"]
