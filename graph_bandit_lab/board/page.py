"""Write the page of a board: ranks over the tasks, who sent what, and what of it was checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from graph_bandit_env.storage import replace_file
from graph_bandit_lab.analysis.ranking import Ranking, rank_agents
from graph_bandit_lab.board.accounts import OF_A_ROUND
from graph_bandit_lab.board.checking import Checked, CheckedAgent
from graph_bandit_lab.board.rules import VERSIONS, Rules
from graph_bandit_lab.design.tasks import Task
from graph_bandit_lab.reports.figures import svg_lines
from graph_bandit_lab.reports.pages import templates
from graph_bandit_lab.reports.report import REPORT_NAME, write_report
from graph_bandit_lab.reports.sweep_report import ranking_content, rows_of_ranking
from graph_bandit_lab.storage.files import make_folder
from graph_bandit_lab.storage.reading import load_results
from graph_bandit_lab.storage.results import FILE_NAME, ResultStore
from graph_bandit_lab.storage.transfer import import_results

PAGE_NAME = "index.html"
LEFT_OUT = "it is not in the entry"


def write_board(checked: Sequence[Checked], rules: Rules, out: str | Path) -> Path:
    """Write `index.html`, the board, and `report.html`, the report of all results on it, into a folder.

    Agents are ranked as in the report of a sweep. A task that an entry leaves out counts as one that its agent cannot
    play: it is last there.

    Args:
        checked: of `check_entries`; refused ones are listed, with the reason, and are not ranked.
        rules: those of the board.
        out: the folder, which is made if it is not there.

    Returns:
        The path of the page.

    Raises:
        ValueError: if no entry is accepted, or the folder holds results of its own, whose report would be replaced.
    """
    out = Path(out)
    accepted = [sent for sent in checked if not sent.faults]
    if not accepted:
        raise ValueError(f"Expected at least one entry that keeps the rules. Got {len(checked)} that are refused.")
    if (out / FILE_NAME).exists():
        raise ValueError(f"Expected a folder without results for the page. Got {out}, which has some. Choose another.")
    make_folder(out)
    with TemporaryDirectory() as temporary:
        tasks = _tasks_of(accepted, rules)
        ResultStore(Path(temporary)).take((), tasks)  # first: names and reasons that are there stay
        import_results(temporary, [sent.entry.path for sent in accepted])
        results = load_results(temporary, arrays=())
        report = write_report(temporary).read_bytes()
    ranking = rank_agents(results, tasks)
    agents = _find_agents(accepted, results)
    content = {} if ranking is None else {**ranking_content(ranking), "ranks": _rows_of_ranks(ranking, agents)}
    template = templates("graph_bandit_lab.board").get_template("board.html.jinja")
    page = template.render(
        title=rules.sweep.title,
        ranking=content,
        lines=svg_lines(list(agents)),
        agents=[_row_of_agent(label, *found, len(tasks)) for label, found in agents.items()],
        entries=[_row_of_entry(sent) for sent in accepted],
        refused=[(sent.entry.path.name, sent.entry.digest, sent.faults) for sent in checked if sent.faults],
        versions=VERSIONS,
        replays=checked[0].replays,
        tolerance=OF_A_ROUND,
        report=REPORT_NAME,
    )
    replace_file(out / REPORT_NAME, report)
    replace_file(out / PAGE_NAME, page.encode())
    return out / PAGE_NAME


def _tasks_of(accepted: Sequence[Checked], rules: Rules) -> list[Task]:
    """Return the tasks as the rules name them, with the agents whose entry leaves them out."""
    tasks = []
    for key, task in rules.tasks.items():
        absent = [
            plays[0].label
            for sent in accepted
            for plays in sent.entry.players.values()
            if all(play.key.environment_key != key for play in plays)
        ]
        tasks.append(replace(task, refused=tuple((label, LEFT_OUT) for label in absent)))
    return tasks


def _find_agents(accepted: Sequence[Checked], results: pd.DataFrame) -> dict[str, tuple[Checked, CheckedAgent, int]]:
    """Return entry, verdict and number of tasks of each agent, by its label in results."""
    found: dict[tuple[str, int], tuple[Checked, CheckedAgent, int]] = {}
    for sent in accepted:
        for agent, plays in zip(sent.agents, sent.entry.players.values(), strict=True):
            count = len({play.key.environment_key for play in plays})
            found |= {play.identity: (sent, agent, count) for play in plays}
    firsts = results.drop_duplicates("label")
    columns = (firsts[name] for name in ("label", "settings_hash", "seed"))
    return {str(label): found[settings_hash, int(seed)] for label, settings_hash, seed in zip(*columns, strict=True)}


def _rows_of_ranks(ranking: Ranking, agents: Mapping[str, tuple[Checked, CheckedAgent, int]]) -> list[tuple[str, ...]]:
    """Return header and rows of the ranks, with the entry that each agent came in, and how much was played again."""
    (header, *rows) = rows_of_ranking(ranking)
    found = [agents[row[0]] for row in rows]
    shares = [f"{agent.replayed} of {agent.repetitions}" if agent.replayed else "no" for _, agent, _ in found]
    more = [(sent.entry.name, share) for (sent, *_), share in zip(found, shares, strict=True)]
    return [(*header, "entry", "played again"), *((*row, *cells) for row, cells in zip(rows, more, strict=True))]


def _row_of_agent(label: str, sent: Checked, agent: CheckedAgent, played: int, tasks: int) -> tuple[str, ...]:
    verdict = "rules alone" if sent.replays is None else agent.verdict
    return label, sent.entry.name, f"{played} of {tasks}", verdict, agent.not_replayed


def _row_of_entry(sent: Checked) -> tuple[str, ...]:
    versions = sent.entry.versions
    return sent.entry.name, sent.entry.created, *(versions.get(name, "") for name in VERSIONS), sent.entry.digest
