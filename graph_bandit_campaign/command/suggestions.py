"""Run `graph-bandit suggest`: choose the molecules of a table, or other graphs, to measure next."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path, PurePath

import msgspec
import numpy as np

from graph_bandit_campaign.assays.tables import sources_of
from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.importing import tell_tables
from graph_bandit_campaign.command.pools.opening import open_pool
from graph_bandit_campaign.command.pools.rounds import Offer, Rounds
from graph_bandit_campaign.command.settings import ONCE, SuggestSettings, change_files
from graph_bandit_campaign.constraints.batch.batch import Bill
from graph_bandit_campaign.model.explanations import Neighbour, nearest_measured
from graph_bandit_campaign.model.learner import DEFAULT
from graph_bandit_campaign.report.answer import Answer
from graph_bandit_campaign.report.predictions import predictions_table
from graph_bandit_campaign.report.tables import check_kind, write_table
from graph_bandit_campaign.report.terminal import print_answer
from graph_bandit_campaign.results.rows import ResultTables
from graph_bandit_campaign.state import CampaignState, Kept, Suggestion
from graph_bandit_campaign.store import ChangedError, Store, digest_of, portable, refuse_others
from graph_bandit_campaign.verbs import Told, resume, without_last_round
from graph_bandit_campaign.workers import say
from graph_bandit_env import MoleculeSet, SlotSet
from graph_bandit_env.storage import find_file, replace_file
from graph_bandit_lab import AgentSpec
from graph_bandit_lab.storage import make_folder

Contents = Mapping[Path, bytes | Iterable[bytes]]
"""The contents of each file to write, the suggestions first."""
NO_QUESTION = frozenset(
    (
        *("measured", "measured_sheet", "out", "html", "predictions", "agent", "goal_kind", "maximize", "minimize"),
        *("target", "weights", "require", "forbid", "filter"),
    )
)
"""Settings that do not make a pending round outdated: files, results, and settings covered by state and digest."""
TYPED_IN = "If you entered results in it, save it under another name and pass it with --measured."


@dataclass(frozen=True, eq=False)
class Opened:
    """A campaign with the pool of its command."""

    settings: SuggestSettings
    """The command."""
    rounds: Rounds
    """The pool, and its tables."""
    remarks: Sequence[str]
    """Remarks about pool and tables, for people."""
    campaign: Campaign
    """The campaign on the relevant graphs of the pool, or on all."""
    state: CampaignState
    """The state with all results, before the agent was considered."""
    told: Told
    """Changes made by the tables."""

    def offer(self) -> Offer:
        """Return the graphs from which a batch is chosen, and switch the campaign to these graphs."""
        offer = self.rounds.offer(self.campaign)
        if self.campaign.graph_set is not offer.graphs:
            mask = offer.of_pool(np.ones(len(offer.in_pool), np.bool_))
            self.campaign.show(offer.graphs, mask, offer.most_taught)
        return offer


def suggest(settings: SuggestSettings) -> tuple[Suggestion, ...]:
    """Add the results of tables to a campaign, choose molecules, and write suggestions, campaign and page.

    If the results and settings have not changed since the last round, that round is returned.

    Raises:
        ValueError, OSError: if a file cannot be read, or a file to be written was not written by this campaign. No file
            is written then.
        ImportError: if a package for reading a file is not installed.
    """
    answer, remarks = write_suggestions(settings)
    print_answer(answer, remarks)
    print("\n" + "\n".join(map(str, settings.outputs)))
    return answer.suggested


def write_suggestions(settings: SuggestSettings, store: Store | None = None) -> tuple[Answer, Sequence[str]]:
    """Run `suggest` without printing, and return the answer and the remarks about the tables.

    If another process changes the campaign meanwhile, the choice is repeated.

    Args:
        settings: settings of the command.
        store: the campaign, whose results are used without reading tables. None means the campaign of the settings,
            which then name all tables.

    Raises:
        TooFewLeftError: a ValueError, if prices, budget or caps allow fewer molecules than requested.
        ValueError, OSError, ImportError: as `suggest`.
    """
    AgentSpec.admit([settings.agent] if settings.agent else [])
    for path in (*settings.outputs, settings.state):
        find_file(path)
        check_kind(path)
        make_folder(path.parent)
    has_tables, store = store is None, store or Store(settings.state)
    try:
        return _suggest(settings, store, has_tables)
    except ChangedError:
        with store.locked():
            return _suggest(settings, store, has_tables)


def _suggest(settings: SuggestSettings, store: Store, has_tables: bool) -> tuple[Answer, Sequence[str]]:
    """Change the campaign, including digests of the files to write, then write the files."""
    earlier = store.read()
    refuse_others(settings.outputs, earlier.written if earlier else (), settings.overwrite, TYPED_IN)
    twin = store.twin()
    if settings.undo:
        twin.change("undo", lambda state: (without_last_round(state), None), "the last round")
    taken_back = [each.id for each in earlier.rounds[-1]] if settings.undo and earlier else []
    answer, contents = _choose(opened := open_campaign(settings, twin, has_tables), taken_back)
    store.take(twin)
    say("Writing the files.")
    _write(contents, store)
    return answer, opened.remarks


def open_campaign(settings: SuggestSettings, store: Store, has_tables: bool = False) -> Opened:
    """Read the pool, and add the tables of a command to the campaign.

    Args:
        settings: settings of the command.
        store: the campaign.
        has_tables: if True, the tables are read. Otherwise the campaign keeps its current results.

    Raises:
        ValueError, OSError, ImportError: as `suggest`.
    """
    say("Reading the pool and the results.")
    earlier, paths = store.state, settings.measured if has_tables else ()
    tables = ResultTables.open(paths, settings.measured_sheet)
    rounds = open_pool(settings, earlier)
    rounds.read(tables)
    one, agent = not rounds.goals, settings.agent or DEFAULT
    goes_on = partial(
        resume,
        path=str(settings.state),
        agent=agent,
        maximize=settings.goals[0].sign > 0 if one else None,
        seed=settings.seed,
        target=settings.quantity if one else None,
        goals=rounds.goals or None,
        kind=settings.kind_of(settings.quantity) or None if one else None,
    )
    store.begin(goes_on(None))

    def tell(newest: CampaignState) -> tuple[CampaignState, Told]:
        return tell_tables(goes_on(newest), rounds, settings, store, has_tables)

    state, told = store.change("tell" if paths else "", tell, ", ".join(table.name for table in paths), settings.user)
    known = rounds.know(state)
    sources, remarks = sources_of(rounds.others, known.in_pool, settings.most_atoms)
    offered = known.of_pool(np.ones(len(known.in_pool), np.bool_))
    campaign = Campaign(
        known.graphs,
        agent,
        state=store,
        offered=offered,
        ignore_failures=settings.ignore_failures,
        related_assays=sources,
    )
    if settings.encoder and not campaign.uses_columns:
        raise ValueError(f"Expected a `molecule-` or `gp-` agent for --encoder. Got {campaign.state.agent}.")
    return Opened(settings, rounds, [*rounds.remarks, *remarks], campaign, state, told)


def keep_command(settings: SuggestSettings) -> dict[str, Kept]:
    """Return the settings that differ from their defaults, with paths relative to the folder of the campaign's file.

    Args:
        settings: settings of the command.
    """
    differing = (each for each in fields(settings) if getattr(settings, each.name) != each.default)
    given = {each.name: getattr(settings, each.name) for each in differing if each.name not in ONCE}
    kept = change_files(given, lambda path: Path(portable(path, settings.state.parent)))
    kept["out"] = settings.out.resolve().name
    as_json: dict[str, Kept] = msgspec.to_builtins(kept, enc_hook=PurePath.as_posix)
    return as_json


def _choose(opened: Opened, taken_back: Sequence[str]) -> tuple[Answer, Contents]:
    """Choose a batch, or return the pending one, with the contents of the files to write."""
    settings, campaign, command = opened.settings, opened.campaign, keep_command(opened.settings)
    say(f"Learning from the results, and choosing among {opened.rounds.size:,}.")
    campaign.choose_agent(settings.n)
    waits = not settings.next_batch and _waits(opened, command)
    offer = opened.offer()
    state = campaign.state
    if waits and any(each.id in state.vetoes for each in state.rounds[-1]):
        campaign.another(offer.among, offer.constraints)
    elif not waits:
        if not offer.selection.mask.any():
            raise ValueError(f"No molecule meets the limits. {offer.note}")
        campaign.ask(settings.n, offer.among, offer.constraints)
    is_new = len(campaign.state.rounds) > len(state.rounds)
    suggested = campaign.state.rounds[-1] if waits or is_new else ()
    answer = replace(_answer(opened, offer, suggested), taken_back=taken_back)
    contents = _contents(settings, offer, campaign, answer)
    digests = [digest_of(content) for content in contents.values() if isinstance(content, bytes)]

    def noted(state: CampaignState) -> tuple[CampaignState, None]:
        written = tuple(dict.fromkeys((*state.written, *digests)))
        return replace(state, command=command, read=opened.rounds.digest, written=written), None

    campaign.change("", noted)
    return answer, contents


def _waits(opened: Opened, command: Mapping[str, Kept]) -> bool:
    """Return True if the last round is still open, and no results or settings have changed since."""
    state = opened.state
    asked, before = ({k: each[k] for k in each.keys() - NO_QUESTION} for each in (command, state.command))
    is_open = bool(state.rounds) and any(each.id in (*state.pending, *state.vetoes) for each in state.rounds[-1])
    is_same = state.read == opened.rounds.digest and state.agent == opened.campaign.state.agent
    return is_open and is_same and not state.told and asked == before


def _write(contents: Contents, store: Store) -> None:
    """Write the files of a round. The digest of each is saved in the campaign before the file appears."""

    def noted(content: Iterable[bytes]) -> Iterator[bytes]:
        sha256 = hashlib.sha256()
        for part in content:
            sha256.update(part)
            yield part
        digest = sha256.hexdigest()[:16]
        store.change("", lambda state: (replace(state, written=(*state.written, digest)), None))

    for path, content in contents.items():
        replace_file(path, content if isinstance(content, bytes) else noted(content))


def _answer(opened: Opened, offer: Offer, suggested: Sequence[Suggestion]) -> Answer:
    """Return the content of the output for a batch."""
    settings, campaign, rounds = opened.settings, opened.campaign, opened.rounds
    graphs, among, failing = offer.graphs, offer.among, campaign.failing()
    smiles_of, near, slots = dict[str, str](), dict[str, list[Neighbour]](), dict[str, dict[str, str]]()
    if isinstance(graphs, SlotSet):
        slots = {name: graphs.cells_of(text) for name, text in zip(graphs.ids, graphs.texts, strict=True)}
    if isinstance(graphs, MoleculeSet):
        smiles_of = dict(zip(graphs.ids, graphs.smiles, strict=True))
        means = [view.means() for view in campaign.state.views()]
        measured = {key: means[0].get(key, np.nan) for values in means for key in values}
        near = nearest_measured([suggestion.id for suggestion in suggested], measured, smiles_of)
    in_pool = set(offer.in_pool.ids)
    measured_ids = dict.fromkeys(result.id for result in campaign.state.measured)
    goals = {goal.name: goal.name for goal in campaign.state.goals} or {settings.quantity: ""}
    chosen = [suggestion.id for suggestion in suggested]
    return Answer(
        target=settings.quantity,
        pool_size=rounds.size,
        state=campaign.state,
        suggested=tuple(suggested),
        near=near,
        smiles_of=smiles_of,
        slots=slots,
        forms=opened.told.forms,
        told=opened.told.sentences(),
        gone=[identifier for identifier in campaign.state.pending if identifier not in in_pool],
        outside=[key for key in measured_ids if key not in in_pool],
        shares=campaign.shares(),
        also={name: campaign.correlations(goal) for name, goal in goals.items()},
        advice=campaign.stopping_advice(sound if (sound := among & ~failing.likely).any() else among)
        if suggested
        else None,
        limits=offer.note,
        learns_bounds=campaign.learns_bounds,
        explanations={name: campaign.explain(chosen, goal) for name, goal in goals.items()},
        graphs=None if isinstance(graphs, MoleculeSet) else graphs,
        bill=Bill.of(chosen, graphs.ids, offer.constraints, settings.terms),
        failures=failing.sentence(),
        fails=dict(zip(graphs.ids, failing.probability.tolist(), strict=True)) if failing.teaches else {},
        likely=failing.bound,
        written=getattr(graphs, "written", {}),
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
