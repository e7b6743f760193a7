from .diagnostics import DIAGNOSTICS as DIAGNOSTICS
from .loop import BanditResult as BanditResult
from .loop import run_bandit as run_bandit

__all__ = ["DIAGNOSTICS", "BanditResult", "run_bandit"]
