"""Provide shared parts of pages to all packages. `graph_bandit_lab` has the reports: `write_report`, `table_of`."""

from graph_bandit_lab.reports.pages import COLORS, DASHES, STYLE, print_columns, templates, to_svg

__all__ = ["COLORS", "DASHES", "STYLE", "print_columns", "templates", "to_svg"]
