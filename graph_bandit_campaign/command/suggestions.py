"""The work of `graph-bandit suggest`: choose the molecules of a table, or other graphs, to measure next."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.asked import spell_goals
from graph_bandit_campaign.command.inputs import Inputs, read_inputs
from graph_bandit_campaign.command.kept import keep_command
from graph_bandit_campaign.command.pools.offer import Offer
from graph_bandit_campaign.command.question import Question, mark, take_over
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.constraints.batch.batch import Bill
from graph_bandit_campaign.file import (
    TYPED_IN,
    CampaignFile,
    ChangedError,
    check_version,
    digest_of,
    lock_campaign,
    read_digest,
    refuse_others,
)
from graph_bandit_campaign.model.learner import DEFAULT, AgentChangedWarning
from graph_bandit_campaign.model.reasons import Neighbour, nearest_measured
from graph_bandit_campaign.report.answer import Answer
from graph_bandit_campaign.report.predictions import predictions_table
from graph_bandit_campaign.report.tables import check_kind, write_table
from graph_bandit_campaign.report.terminal import print_answer
from graph_bandit_campaign.results.rows import ResultTables
from graph_bandit_campaign.state import Suggestion
from graph_bandit_campaign.workers import say
from graph_bandit_env import MoleculeSet
from graph_bandit_env.storage import find_file, replace_file
from graph_bandit_env.tables import split_entry
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.storage import make_folder

Contents = Mapping[Path, bytes | Iterable[bytes]]
"""The contents of each file to write, the suggestions first."""
Batch = tuple[Offer, Sequence[int], tuple[Suggestion, ...]]
"""What was on offer, the indices of graphs of it that could not be chosen, and the suggestions."""


def suggest(settings: SuggestSettings) -> tuple[Suggestion, ...]:
    """Read pool and results, choose molecules, and write suggestions, campaign and page.

    All results are read again each time, so a table may be corrected. The same command with the same results gives the
    same suggestions; other results, or another version of the agent, make another round.

    Raises:
        ValueError, OSError: if a file cannot be read, or one that is to be written is not as this campaign wrote it;
            nothing is written then.
        ImportError: if a package that reads a file is not installed.
        KeyboardInterrupt: after Ctrl-C; it says what was stored.
    """
    with _tells_what_is_stored(settings):
        answer, remarks = write_suggestions(settings)
        print_answer(answer, remarks)
        print("\n" + "\n".join(map(str, _outputs(settings))))
    return answer.suggested


def write_suggestions(
    settings: SuggestSettings, version: str = "", same_round: bool = False, is_shown: bool = False
) -> tuple[Answer, Sequence[str]]:
    """Do what `suggest` does, but print nothing; return what it prints: the answer, and remarks about the tables.

    Args:
        settings: what is asked.
        version: digest that the campaign's file is to have before; empty: it does not matter.
        same_round: refuse to suggest a new round; others may take the place of vetoed suggestions of the last one.
        is_shown: whether people see rounds in the campaign's file, so that the last one counts for them although a
            crash kept its table from being written.

    Raises:
        StaleError: a ValueError, if the file is another version.
        OtherQuestionError: a ValueError, if it would be a new round.
        TooFewLeftError: a ValueError, if prices, budget or caps allow fewer molecules than are wanted.
        ValueError, OSError, ImportError: as `suggest`.
    """
    say("Reading the pool and the results.")
    settings, inputs, seen = read_command(settings)
    say(f"Learning from the results, and choosing among {inputs.size:,}.")
    campaign = _open_seen(settings, inputs, version, seen)
    with ExitStack() as locked:  # from the first change to the last: another process is to see all of a round
        answer, contents = _choose(settings, inputs, campaign, same_round, is_shown, locked)
        say("Writing the files.")
        _write(campaign, contents)
    return answer, inputs.remarks


def read_command(settings: SuggestSettings) -> tuple[SuggestSettings, Inputs, str]:
    """Read all that a command names.

    Returns:
        The settings with the goals spelt as the tables have them, what was read, and the digest that the campaign's
        file had then.

    Raises:
        ValueError, OSError, ImportError: as `suggest`.
    """
    AgentSpec.admit([settings.agent] if settings.agent else [])
    outputs = _outputs(settings)
    for path in (*outputs, settings.state):
        find_file(path)
        check_kind(path)
    with lock_campaign(settings.state):  # the tables are those of this version
        seen, earlier = read_digest(settings.state), CampaignFile(settings.state).read()
        refuse_others(outputs, earlier.written if earlier else (), settings.overwrite, TYPED_IN)
        tables = ResultTables.open(settings.measured, settings.measured_sheet)
    settings = spell_goals(settings, earlier, tables)
    return settings, read_inputs(settings, earlier, tables), seen


def _open_seen(settings: SuggestSettings, inputs: Inputs, version: str, seen: str) -> Campaign:
    """Return the campaign of a command if its file is as it was when the tables were read, and the version wanted."""
    for path in _outputs(settings):
        make_folder(path.parent)
    campaign = open_campaign(settings, inputs)
    check_version(settings.state, version)
    if read_digest(settings.state) != seen:
        raise ChangedError(settings.state)
    return campaign


def _choose(
    settings: SuggestSettings, inputs: Inputs, campaign: Campaign, same_round: bool, is_shown: bool, locked: ExitStack
) -> tuple[Answer, Contents]:
    """Tell a campaign all results, ask it for a batch, and save both with digests of what is to be written.

    The campaign is locked with the change of its file, until `locked` is closed.
    """
    before, is_seen = campaign.state, is_shown or read_digest(settings.out) == campaign.state.unwritten
    with _told_later(), campaign.at_once():
        vetoed = mark(campaign, settings, inputs.known.in_pool)
        question = take_over(campaign, inputs, settings, is_seen, same_round)
        if measured := next((key for key in vetoed if key in campaign.state.settled()), None):
            raise ValueError(
                f"Expected a candidate that is not measured yet. `{measured}` is, and is not suggested again."
            )
        asked = _ask(settings, inputs, campaign, question)
        offer, answer = asked[0], _answer(settings, inputs, campaign, asked)
        if settings.undo and before.rounds and not before.unwritten:
            answer = replace(answer, taken_back=[suggestion.id for suggestion in before.rounds[-1]])
        campaign.note_command(keep_command(settings))
        contents = _contents(settings, offer, campaign, answer)
        digests = [digest_of(content) for content in contents.values() if isinstance(content, bytes)]
        campaign.note_files(digests, unwritten=digests[0] if answer.suggested else "")
        locked.enter_context(lock_campaign(settings.state))
    return answer, contents


def _write(campaign: Campaign, contents: Contents) -> None:
    """Write the files of a round, then save in the campaign that all are written.

    The campaign knows the digest of each content before its file is replaced: of those that are made while they are
    written, too.
    """

    def noted(content: Iterable[bytes]) -> Iterator[bytes]:
        sha256 = hashlib.sha256()
        for part in content:
            sha256.update(part)
            yield part
        campaign.note_files([sha256.hexdigest()[:16]], campaign.state.unwritten)

    for path, content in contents.items():
        replace_file(path, content if isinstance(content, bytes) else noted(content))
    campaign.note_files()


def _outputs(settings: SuggestSettings) -> list[Path]:
    return [path for path in (settings.out, settings.predictions, settings.html) if path is not None]


def open_campaign(settings: SuggestSettings, inputs: Inputs) -> Campaign:
    """Return the campaign of a command, as its file has it.

    Raises:
        ValueError: as `Campaign`.
    """
    graphs, goals = inputs.known.graphs, inputs.asked.goals
    with _told_later():
        campaign = Campaign(
            graphs,
            settings.agent or DEFAULT,
            maximize=None if goals else settings.goals[0].sign > 0,
            seed=settings.seed,
            target=None if goals else settings.target,
            state=settings.state,
            offered=np.arange(len(graphs)) < len(inputs.known.in_pool),
            ignore_failures=settings.ignore_failures,
            goals=goals or None,
            also=inputs.also.values,
            kind=None if goals else settings.kind_of(settings.target) or None,
        )
    if inputs.asked.kind == "class" and not campaign.state.kind:  # though there may be one class alone, or words
        campaign.state = replace(campaign.state, kind="class")
    if settings.noise and not campaign.learns_bounds:
        raise ValueError(
            f"Agent `{campaign.state.agent}` cannot use the noise of a result. Choose one of the `gp-` or "
            "`molecule-` agents, or leave out --noise."
        )
    return campaign


def _ask(settings: SuggestSettings, inputs: Inputs, campaign: Campaign, question: Question) -> Batch:
    """Ask for a batch, which is empty if nothing is left to suggest."""
    state = campaign.state
    offer = inputs.offer(campaign)
    place_of = {identifier: k for k, identifier in enumerate(offer.in_pool.ids)}
    gone = (*state.settled(), *state.pending, *state.failed, *state.vetoes)
    taken = [place_of[key] for key in gone if key in place_of]
    if not offer.has_left(taken):
        return offer, taken, ()
    if campaign.graph_set is not offer.graphs:
        campaign.show(offer.graphs, offer.offered, offer.most_taught)
    return offer, taken, campaign.ask(settings.n, question.digest, offer.among, offer.constraints, question.keep)


def _answer(settings: SuggestSettings, inputs: Inputs, campaign: Campaign, batch: Batch) -> Answer:
    """Return what is written and printed of a batch."""
    offer, taken, suggested = batch
    graphs, failing = offer.graphs, campaign.failing()
    among, left = offer.among, offer.among
    left[list(taken)] = False
    smiles_of, near, cells = dict[str, str](), dict[str, list[Neighbour]](), dict[str, str]()
    if isinstance(graphs, MoleculeSet):
        parts = {name: split_entry(text) for name, text in zip(graphs.ids, graphs.smiles, strict=True)}
        smiles_of = {name: smiles for name, (smiles, _) in parts.items()}
        cells = {name: rest[2:-1] for name, (_, rest) in parts.items() if rest}
        means = [view.means() for view in campaign.state.views()]
        measured = {key: means[0].get(key, np.nan) for values in means for key in values}
        near = nearest_measured([suggestion.id for suggestion in suggested], measured, smiles_of)
    in_pool = set(offer.in_pool.ids)
    goals = {goal.name: goal.name for goal in campaign.state.goals} or {settings.target: ""}
    chosen = [suggestion.id for suggestion in suggested]
    return Answer(
        target=settings.target,
        pool_size=inputs.size,
        state=campaign.state,
        suggested=suggested,
        near=near,
        smiles_of=smiles_of,
        cells=cells,
        books=inputs.known.books,
        gone=[identifier for identifier in campaign.state.pending if identifier not in in_pool],
        agent_change=campaign.agent_change,
        features=inputs.features,
        shares=campaign.shares(),
        also={name: campaign.correlations(goal) for name, goal in goals.items()},
        outlook=campaign.outlook(sound if (sound := among & ~failing.likely).any() else among) if suggested else None,
        limits=offer.note,
        learns_bounds=campaign.learns_bounds,
        reasons={name: campaign.reasons(chosen, goal) for name, goal in goals.items()},
        graphs=None if isinstance(graphs, MoleculeSet) else graphs,
        bill=Bill.of(chosen, graphs.ids, offer.constraints, settings.terms),
        failures=failing.sentence(None if offer.is_part else left),
        fails=dict(zip(graphs.ids, failing.probability.tolist(), strict=True)) if failing.teaches else {},
        likely={graphs.ids[k] for k in np.flatnonzero(failing.likely)},
        written={name: split_entry(text)[0] for name, text in getattr(graphs, "written", {}).items()},
        others=offer.others(chosen) if chosen and offer.others else {},
    )


def _contents(settings: SuggestSettings, offer: Offer, campaign: Campaign, answer: Answer) -> Contents:
    contents: dict[Path, bytes | Iterable[bytes]] = {settings.out: write_table(settings.out, answer.rows())}
    if settings.predictions is not None and offer.predictions is not None:
        contents[settings.predictions] = offer.predictions(settings.predictions, campaign, answer)
    elif settings.predictions is not None:
        rows = predictions_table(answer, offer.in_pool.ids, campaign.predict(), offer.selection)
        contents[settings.predictions] = write_table(settings.predictions, rows)
    if settings.html is not None:
        from graph_bandit_campaign.report.suggest_page import render_page  # here, because figures take long to import

        contents[settings.html] = render_page(answer).encode()
    return contents


@contextmanager
def _tells_what_is_stored(settings: SuggestSettings) -> Iterator[None]:
    """Let an interruption say whether the campaign was saved before it."""
    state = settings.state
    before = state.read_bytes() if state.is_file() else b""
    try:
        yield
    except KeyboardInterrupt:
        is_saved = state.is_file() and state.read_bytes() != before
        said = f"The round is saved in {state}: give the same command again to write the other files."
        raise KeyboardInterrupt(said if is_saved else "Nothing was changed.") from None


def _told_later() -> warnings.catch_warnings[None]:
    """Silence the warning of an agent that has changed, which is printed with the rest."""
    return warnings.catch_warnings(action="ignore", category=AgentChangedWarning)
