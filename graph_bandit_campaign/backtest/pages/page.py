"""Show a backtest: as a page, and in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from graph_bandit_campaign.backtest.pages import verdict
from graph_bandit_campaign.backtest.pages.figures import forecasts_figure, lines_of, progress_figure
from graph_bandit_campaign.backtest.settings import BacktestSettings
from graph_bandit_campaign.backtest.summary import Summary
from graph_bandit_lab.reports import print_columns, templates, to_svg
from graph_bandit_lab.storage import software_versions

SHOWN = ("graph-bandit-env", "torch", "rdkit")


def render_page(summary: Summary, settings: BacktestSettings, notes: Sequence[str]) -> str:
    """Return a self-contained HTML page.

    Args:
        summary: the plays, compared.
        settings: settings of the command.
        notes: remarks, for people.
    """
    versions = software_versions()
    lines, forecasts = lines_of(summary), summary.forecasts
    return (
        templates("graph_bandit_campaign.backtest.pages")
        .get_template("backtest.html.jinja")
        .render(
            summary=summary,
            table=summary.table,
            settings=settings,
            notes=notes,
            verdicts=verdict.verdicts(summary),
            advice=verdict.advice(summary),
            comparisons=verdict.comparisons(summary),
            reliability=verdict.reliability(summary),
            rows=verdict.rows(summary),
            goal=verdict.goal_text(summary.goal),
            lines=lines,
            progress=to_svg(progress_figure(summary, settings.target)),
            forecasts=to_svg(forecasts_figure(forecasts, lines)) if forecasts else "",
            versions={name: versions[name] for name in SHOWN},
        )
    )


def print_summary(summary: Summary) -> None:
    """Print what the page says: table, verdict and comparisons."""
    print()
    print_columns(verdict.rows(summary))
    print()
    for answer in verdict.verdicts(summary):
        print("\n  ".join((answer.headline, *answer.reasons)))
    advice = verdict.advice(summary)
    for sentence in [*([advice] if advice else []), *verdict.comparisons(summary), *verdict.reliability(summary)]:
        print(sentence)
