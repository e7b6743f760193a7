"""The work of `graph-bandit suggest`: choose the molecules of a table, or other graphs, to measure next."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph_bandit_campaign.campaign import AgentChangedWarning, Campaign
from graph_bandit_campaign.command.names import spell_goals
from graph_bandit_campaign.command.outputs import TYPED_IN, digest_of, read_digest, refuse_others, write_files
from graph_bandit_campaign.command.question import take_over
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.file import CampaignFile
from graph_bandit_campaign.graphs.inputs import are_other_graphs, read_graph_inputs
from graph_bandit_campaign.learner import DEFAULT
from graph_bandit_campaign.pages.answer import Answer
from graph_bandit_campaign.pages.predictions import predictions_table
from graph_bandit_campaign.pages.suggest_page import render_page
from graph_bandit_campaign.pages.tables import check_kind, write_table
from graph_bandit_campaign.pages.terminal import print_answer
from graph_bandit_campaign.plates.bill import Bill
from graph_bandit_campaign.plates.choice import ShortListEndedError
from graph_bandit_campaign.reasons.neighbours import Neighbour, nearest_measured
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_campaign.streaming.inputs import read_prepared_inputs
from graph_bandit_campaign.tables.inputs import Inputs, read_inputs
from graph_bandit_campaign.traits.kept import describe
from graph_bandit_env import GraphPool, MoleculeSet
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.storage import find_file, make_folder


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
        return _suggest(settings)


def _suggest(settings: SuggestSettings) -> tuple[Suggestion, ...]:
    AgentSpec.admit([settings.agent] if settings.agent else [])
    outputs = [path for path in (settings.out, settings.predictions, settings.html) if path is not None]
    for path in (*outputs, settings.state):
        find_file(path)
        check_kind(path)
    earlier = CampaignFile(settings.state).read()
    refuse_others(outputs, earlier.written if earlier else (), settings.overwrite, TYPED_IN)
    settings, read = spell_goals(settings, earlier), _reader_of(settings)
    inputs = read(settings, earlier)
    for path in outputs:
        make_folder(path.parent)
    while True:
        molecules, campaign = _open(settings, inputs)
        before, is_seen = campaign.state, read_digest(settings.out) == campaign.state.unwritten
        try:
            with _told_later(), campaign.at_once():
                question = take_over(campaign, inputs, settings, is_seen)
                place_of = {identifier: place for place, identifier in enumerate(inputs.pool.ids)}
                taken = [place_of[key] for key in _taken(campaign.state) if key in place_of]
                inputs.check_left(settings.n, taken, may_be_fewer=settings.budget is not None)
                among = np.zeros(len(molecules), np.bool_)
                among[: len(inputs.pool)] = inputs.selection.mask
                suggested = campaign.ask(settings.n, question, among, inputs.plate)
                answer = _answer(settings, inputs, molecules, campaign, among, taken)
                if settings.undo and before.rounds and not before.unwritten:
                    answer = replace(answer, taken_back=[suggestion.id for suggestion in before.rounds[-1]])
                contents = _contents(settings, inputs, campaign, answer)
                digests = [digest_of(content) for content in contents.values() if isinstance(content, bytes)]
                campaign.note_files(digests, unwritten=digests[0])
        except ShortListEndedError as ended:
            if inputs.more is None:
                raise
            inputs = inputs.more(ended, taken)
        else:
            break
    write_files(campaign, contents)
    print_answer(answer, inputs.remarks())
    print("\n" + "\n".join(map(str, outputs)))
    return suggested


def _answer(
    settings: SuggestSettings,
    inputs: Inputs[GraphPool],
    molecules: GraphPool,
    campaign: Campaign,
    among: NDArray[np.bool_],
    taken: list[int],
) -> Answer:
    """Return what is written and printed of the last round."""
    suggested, failing, left = campaign.state.rounds[-1], campaign.failing(), among.copy()
    left[taken] = False
    smiles_of, near = dict[str, str](), dict[str, list[Neighbour]]()
    if isinstance(molecules, MoleculeSet):
        smiles_of = dict(zip(molecules.ids, molecules.smiles, strict=True))
        told = [view.means() for view in campaign.state.each()]
        known = {key: told[0].get(key, np.nan) for values in told for key in values}
        near = nearest_measured([suggestion.id for suggestion in suggested], known, smiles_of)
    in_pool = set(inputs.pool.ids)
    gone = [identifier for identifier in campaign.state.pending if identifier not in in_pool]
    goals = {goal.name: goal.name for goal in campaign.state.goals} or {settings.target: ""}
    return Answer(
        settings.target,
        inputs.size or len(inputs.pool),
        campaign.state,
        suggested,
        near,
        smiles_of,
        inputs.books,
        gone,
        campaign.agent_change,
        inputs.features,
        campaign.shares(),
        campaign.outlook(sound if (sound := among & ~failing.likely).any() else among),
        inputs.describe_limits(),
        campaign.learns_bounds,
        {name: campaign.reasons((each.id for each in suggested), goal) for name, goal in goals.items()},
        None if isinstance(molecules, MoleculeSet) else molecules,
        Bill.of([suggestion.id for suggestion in suggested], molecules.ids, inputs.plate, settings),
        failures=failing.sentence(None if inputs.size else left),
        fails=dict(zip(molecules.ids, failing.probability.tolist(), strict=True)) if failing.teaches else {},
        likely={molecules.ids[k] for k in np.flatnonzero(failing.likely)},
        written=getattr(molecules, "written", {}),
        others=inputs.others([suggestion.id for suggestion in suggested]) if inputs.others else {},
    )


def _contents(
    settings: SuggestSettings, inputs: Inputs[GraphPool], campaign: Campaign, answer: Answer
) -> dict[Path, bytes | Iterable[bytes]]:
    """Return what is written into each file, the suggestions first."""
    contents: dict[Path, bytes | Iterable[bytes]] = {settings.out: write_table(settings.out, answer.rows())}
    if settings.predictions is not None and inputs.predictions is not None:
        contents[settings.predictions] = inputs.predictions(campaign, answer)
    elif settings.predictions is not None:
        rows = predictions_table(answer, inputs.pool.ids, campaign.predict(), inputs.selection)
        contents[settings.predictions] = write_table(settings.predictions, rows)
    if settings.html is not None:
        contents[settings.html] = render_page(answer).encode()
    return contents


def _open(settings: SuggestSettings, inputs: Inputs[GraphPool]) -> tuple[GraphPool, Campaign]:
    """Return the graphs of a campaign, with what agents compute of them, and the campaign."""
    molecules = inputs.molecules
    if isinstance(molecules, MoleculeSet):
        agents = [settings.agent or DEFAULT]
        molecules = describe(molecules, agents, len(inputs.pool), keep=True, workers=settings.processes)
    with _told_later():
        campaign = Campaign(
            molecules,
            settings.agent or DEFAULT,
            maximize=None if inputs.goals else settings.goals[0].sign > 0,
            seed=settings.seed,
            target=None if inputs.goals else settings.target,
            state=settings.state,
            offered=np.arange(len(molecules)) < len(inputs.pool),
            ignore_failures=settings.ignore_failures,
            goals=inputs.goals or None,
        )
    if settings.noise and not campaign.learns_noises:
        raise ValueError(
            f"Agent `{campaign.state.agent}` cannot use the noise of a result. Choose one of the `gp-` or "
            "`molecule-` agents, or leave out --noise."
        )
    return molecules, campaign


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


def _reader_of(settings: SuggestSettings) -> Callable[[SuggestSettings, CampaignState | None], Inputs[GraphPool]]:
    """Return the function that reads this kind of pool."""
    if settings.directed and (settings.pool.is_dir() or not are_other_graphs(settings)):
        raise ValueError(
            f"Expected no `--directed True` for molecules, whose bonds have no direction. Got {settings.pool}."
        )
    if settings.pool.is_dir():
        return read_prepared_inputs
    if settings.scheduler is not None:
        raise ValueError(
            f"Expected `--scheduler` with a folder that `graph-bandit prepare` made, which a cluster can read. Got "
            f"{settings.pool}. Leave it out, or prepare the pool."
        )
    return read_graph_inputs if are_other_graphs(settings) else read_inputs


def _taken(state: CampaignState) -> tuple[str, ...]:
    """Return the ids of graphs that cannot be suggested."""
    return (*state.settled(), *state.pending, *state.failed)
