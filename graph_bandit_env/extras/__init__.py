"""Refuse what needs a package that is not installed, and name the extra that installs it."""

from graph_bandit_env.extras.packages import EXTRAS, MissingExtraError, is_installed, require

__all__ = ["EXTRAS", "MissingExtraError", "is_installed", "require"]
