"""A small campaign, with which several tests begin."""

from graph_bandit_campaign import Campaign, Goal
from support.molecules import some_molecules

MOLECULES = some_molecules(22)
SMALL = "molecule-ucb:short_list=20"
IDS = MOLECULES.ids
VALUES = dict(zip(IDS, MOLECULES.targets.tolist(), strict=True))
GOALS = [Goal("a"), Goal("b", "minimize")]


def begin(agent=SMALL, graph_set=MOLECULES, known=0, **settings):
    """Return a campaign with the values of the first molecules."""
    campaign = Campaign(graph_set, agent, **settings)
    if known:
        campaign.tell({key: VALUES[key] for key in IDS[:known]})
    return campaign


def ids_of(suggestions):
    """Return the ids of suggestions."""
    return [suggestion.id for suggestion in suggestions]
