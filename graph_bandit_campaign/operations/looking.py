"""Ask a campaign why, and whether it is enough; nothing is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graph_bandit_campaign.campaign import Campaign
from graph_bandit_campaign.command.suggestions import open_campaign
from graph_bandit_campaign.model.reasons import nearest_measured, score_atoms
from graph_bandit_campaign.operations.desk import Desk
from graph_bandit_campaign.report.answer import Quantities
from graph_bandit_campaign.text import short
from graph_bandit_env import GraphPool, MoleculeSet


@dataclass(frozen=True)
class Why:
    """The prediction for a graph, and its reasons."""

    id: str
    """Its id."""
    smiles: str
    """Its structure; empty if it is not a molecule."""
    predictions: Mapping[str, str]
    """Predictions by the names of the columns of the table of suggestions; empty texts without any."""
    reasons: Mapping[str, str]
    """Of what the score of each goal is the sum, in words, by its name; empty if the agent cannot say."""
    nearest: tuple[str, ...]
    """The measured molecules most similar to it, the most similar first, with similarity and value."""
    atoms: Mapping[str, tuple[float, ...]]
    """How much smaller the score of each goal is without each atom, in the order of `smiles`; empty without reasons."""


def why(desk: Desk, ids: Sequence[str]) -> tuple[Why, ...]:
    """Return what is predicted of some graphs of the pool, by the results that the campaign has, and why.

    Of the last suggestions it is what was predicted when they were suggested.

    Args:
        desk: the campaign.
        ids: their ids.

    Raises:
        ValueError: if there is no such graph.
    """
    settings = desk.settings()
    inputs = desk.read(replace(settings, pin=tuple(ids)))  # so that those of a prepared pool are read
    campaign = open_campaign(settings, inputs)
    names = [campaign.find(key)[0] for key in ids]
    state = campaign.state
    suggested = {suggestion.id: suggestion for suggestions in state.rounds[-1:] for suggestion in suggestions}
    predicted = {**campaign.predict(), **suggested}  # those know out of how many they were chosen
    quantities = Quantities(settings.target, state.goals, state.is_class)
    goals = {goal.name: goal.name for goal in state.goals} or {settings.target: ""}
    reasons = {name: campaign.reasons(names, goal) for name, goal in goals.items()}
    smiles_of, near = dict[str, str](), dict[str, tuple[str, ...]]()
    if isinstance(inputs.graphs, MoleculeSet):
        smiles_of = dict(zip(inputs.graphs.ids, inputs.graphs.smiles, strict=True))
        values = state.views()[0].means()
        found = nearest_measured(names, values, smiles_of) if values else {}
        near = {
            key: tuple(f"{each.id} (similarity {each.similarity:.2f}, {short(each.value)})" for each in those)
            for key, those in found.items()
        }
    return tuple(
        Why(
            id=key,
            smiles=smiles_of.get(key, ""),
            predictions=dict(zip(quantities.columns(), quantities.cells(predicted[key]), strict=True)),
            reasons={name: those[key].sentence() for name, those in reasons.items() if key in those},
            nearest=near.get(key, ()),
            atoms=_score_atoms(campaign, inputs.graphs, key, goals) if any(reasons.values()) else {},
        )
        for key in names
    )


def _score_atoms(
    campaign: Campaign, graphs: GraphPool, key: str, goals: Mapping[str, str]
) -> dict[str, tuple[float, ...]]:
    if not isinstance(graphs, MoleculeSet):
        return {}
    place = graphs.ids.index(key)
    columns = graphs.columns[place] if graphs.column_names else None
    scores = {name: score_atoms(campaign.model(goal), graphs.smiles[place], columns) for name, goal in goals.items()}
    return {name: those for name, those in scores.items() if those}


def enough(desk: Desk) -> str:
    """Return whether the pool holds a better graph, and whether to stop, in sentences.

    Args:
        desk: the campaign.
    """
    settings = desk.settings()
    inputs = desk.read(settings)
    campaign = open_campaign(settings, inputs)
    offer = inputs.offer(campaign)
    if campaign.graph_set is not offer.graphs:
        campaign.show(offer.graphs, offer.offered, offer.most_taught)
    sound = offer.among & ~campaign.failing().likely
    outlook = campaign.outlook(sound if sound.any() else offer.among)
    if outlook is not None:
        return outlook.sentence(settings.target)
    if campaign.state.goals:
        return "No rule says when to stop with several goals. Look at the front."
    return "It cannot be said yet: there are too few different results, or the agent has no exact model."
