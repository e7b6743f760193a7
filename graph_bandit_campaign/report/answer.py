"""The contents of the suggestions: molecules to measure next, predictions and similar molecules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agents.contract import Correlation
from graph_bandit_campaign.constraints.batch.batch import Bill
from graph_bandit_campaign.constraints.goals.goal import Goal
from graph_bandit_campaign.model.explanations import NEIGHBOURS, Explanation, Neighbour
from graph_bandit_campaign.model.front import find_front
from graph_bandit_campaign.model.stopping import StoppingAdvice
from graph_bandit_campaign.report.flagged import flag_results
from graph_bandit_campaign.report.tables import is_number
from graph_bandit_campaign.state import CampaignState, Suggestion
from graph_bandit_campaign.text import listed, percent, shield, short
from graph_bandit_campaign.verbs import say_ending
from graph_bandit_env import GraphPool

REST = ("standard_deviation", "interval_90_low", "interval_90_high")


@dataclass(frozen=True)
class Quantities:
    """The measured quantities, and their predictions for graphs."""

    target: str
    """The column of the measured values, for a single goal."""
    goals: tuple[Goal, ...] = ()
    """The goals, if there are several."""
    is_class: bool = False
    """True if the single goal is a class. Then only the probability of a hit is predicted."""

    @property
    def ranged(self) -> dict[str, str]:
        """Return the goals with a range, by name, with the word for a result in the range."""
        return {goal.name: "met" if goal.aim == "limit" else "in range" for goal in self.goals if goal.has_range}

    def forecasts(self, suggestion: Suggestion) -> Mapping[str, Suggestion]:
        """Return the predicted values of a graph, by the name of the goal. Empty for a class."""
        nothing = Suggestion(suggestion.id)
        several = {goal.name: suggestion.by_goal.get(goal.name, nothing) for goal in self.goals}
        return {} if self.is_class else several or {self.target: suggestion}

    def cells(self, suggestion: Suggestion) -> dict[str, str]:
        """Return the predictions for a graph as texts, by the names of their columns."""
        cells = dict[str, str]()
        for name, forecast in self.forecasts(suggestion).items():
            cells[f"predicted_{name}"] = short(forecast.mean)
            for column, value in zip(REST, (forecast.std, forecast.low, forecast.high), strict=True):
                cells[f"{column}_{name}" if self.goals else column] = short(value)
            if name in self.ranged:
                cells[f"probability_in_range_{name}"] = short(forecast.probability)
        chance = "front" if self.goals else "hit" if self.is_class else "beating_best"
        return {**cells, f"probability_of_{chance}": short(suggestion.probability)}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The contents of table, page and terminal output."""

    target: str
    """Column of the measured values."""
    pool_size: int
    """Number of candidates."""
    state: CampaignState
    """State of the campaign. Its last round has these suggestions."""
    suggested: tuple[Suggestion, ...]
    """Molecules to measure next."""
    near: Mapping[str, Sequence[Neighbour]]
    """The measured molecules most similar to each suggestion, by its id."""
    smiles_of: Mapping[str, str]
    """SMILES of every molecule, by its id."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """SMILES of results that are another form of their molecule, or whose id was trusted, by its id."""
    told: Sequence[str] = ()
    """Sentences about changes made by the tables."""
    outside: Sequence[str] = ()
    """Ids of measured molecules outside the pool."""
    gone: Sequence[str]
    """Ids of pending molecules outside the pool."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """The share of each part of the model, by the features that it compares."""
    also: Mapping[str, Mapping[str, Correlation]] = field(default_factory=dict)
    """Correlation of related assays with the values of each goal, by the name of the goal and of the assay."""
    advice: StoppingAdvice | None = None
    """Stopping advice. None if the agent has none."""
    limits: str = ""
    """Number of molecules left after each limit. Empty without limits."""
    learns_bounds: bool = False
    """True if the agent learns from bounds, False if it uses them as values."""
    explanations: Mapping[str, Mapping[str, Explanation]] = field(default_factory=dict)
    """Explanations of the predictions for each goal, by its name and by id. Empty if the agent has none."""
    graphs: GraphPool | None = None
    """The pool, if its graphs are not molecules. Then `smiles_of` and `near` are empty."""
    bill: Bill
    """Cost and groups of the suggestions."""
    failures: str = ""
    """Sentence about candidates that are likely to fail. Empty before there are enough failures."""
    fails: Mapping[str, float] = field(default_factory=dict)
    """Probability that each candidate fails, by its id. Empty before there are enough failures."""
    likely: float = 1.0
    """Threshold for the probability of failure, above which a candidate is likely to fail."""
    taken_back: Sequence[str] = ()
    """Ids of the suggestions of the last round, if the user undid it."""
    written: Mapping[str, str] = field(default_factory=dict)
    """SMILES in the pool of molecules that are described by their parent, by id."""
    slots: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Content of each slot, by id and by the name of the slot. Empty if the pool has no actions of slots."""
    others: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Other columns of the pool, by name, with a text for each suggestion."""

    @property
    def noun(self) -> str:
        """Return the noun for the graphs of the pool."""
        return "molecules" if self.graphs is None else "experiments" if self.slots else "graphs"

    def parts_of(self, identifier: str) -> Mapping[str, str]:
        """Return the SMILES of a molecule, or the slots of an action, by the name of the column."""
        if self.graphs is None:
            return {"smiles": self.smiles_of[identifier]}
        return self.slots.get(identifier, {})

    @property
    def title(self) -> str:
        """Return the names of the measured quantities."""
        return ", ".join(goal.name for goal in self.state.goals) or self.target

    @property
    def quantities(self) -> Quantities:
        """Return the predicted quantities."""
        return Quantities(self.target, self.state.goals, self.state.is_class)

    @property
    def predicts(self) -> bool:
        """Return True if there are predictions."""
        return any(each.mean is not None for first in self.suggested[:1] for each in (first, *first.by_goal.values()))

    @cached_property
    def results(self) -> dict[str, dict[str, str]]:
        """Return the results of each goal as texts, by the id of the molecule: their mean, or bounds only."""
        results, names = {}, [goal.name for goal in self.state.goals] or [self.target]
        for name, view in zip(names, self.state.views(), strict=True):
            bounds: dict[str, list[str]] = {}
            for result in view.counted():
                if result.bound:
                    bounds.setdefault(result.id, []).append(result.text)
            exact = {key: short(mean) for key, mean in view.means(exact=True).items()}
            results[name] = exact | {key: ", ".join(given) for key, given in bounds.items()}
        return results

    @cached_property
    def front(self) -> tuple[str, ...]:
        """Return the ids on the front of several goals. Empty for a single goal."""
        return find_front(self.state) if self.state.goals else ()

    @property
    def way(self) -> str:
        """Explain the choice of the suggestions, or the lack of predictions. May be empty."""
        if not self.suggested or not self.predicts:
            text = "No predictions yet: they need two different exact results, and an agent that predicts."
            return text * bool(self.suggested)
        if self.state.goals:
            weighted = all(goal.weight is not None for goal in self.state.goals)
            best = "for these weights" if weighted else "for some weighting of the goals"
            return f"Each suggestion is the best {best}, given the uncertainty of the model."
        if self.state.is_class:
            expected = sum(suggestion.probability or 0.0 for suggestion in self.suggested)
            return f"About {expected:.1f} of these {len(self.suggested)} are expected to be hits."
        text = "Each suggestion complements those above it, so a lower one may be more likely to beat the best."
        return text * (len(self.suggested) > 1)

    @property
    def ending(self) -> str:
        """Report that fewer suggestions than requested are left, or none. Empty if there are enough."""
        count, wanted = len(self.suggested), self.bill.terms.count
        if count:
            is_short = count < wanted and self.bill.terms.budget is None
            return f"Only {count} of the requested {wanted} can still be suggested." * is_short
        every = f"all {self.noun} that meet the limits" if self.limits else f"all {self.pool_size:,} {self.noun}"
        return say_ending(self.state, every, self.best_text, self.target)

    @property
    def best(self) -> tuple[str, float] | None:
        """Return the id and value of the best measured molecule, or None without one, for several goals or a class."""
        return None if self.state.goals or self.state.is_class else self.state.leader()

    @property
    def best_text(self) -> str:
        """Return the best value as text, or as a bound if it has only bounds. Empty if there is none."""
        return "" if self.best is None else self.results[self.target][self.best[0]]

    @property
    def default(self) -> str:
        """Describe the use of the default agent. Empty if the user chose the agent."""
        count = max(self.bill.terms.count, len(self.suggested))
        return f"the default for batches of {count}" if self.state.by_default else ""

    @property
    def waiting(self) -> list[str]:
        """Return the ids of pending molecules other than these suggestions."""
        now = {suggestion.id for suggestion in self.suggested}
        return [key for key in self.state.pending if key not in now]

    @property
    def notes(self) -> list[str]:
        """Return sentences about limits, columns, pending molecules, and results to check or used differently."""
        chosen = [suggestion.id for suggestion in self.suggested]
        near, now = {*chosen, *self.state.pending}, len(self.state.rounds)
        comments = [each for each in self.state.comments if each.id in near or each.round >= now - 1]
        largest_first = sorted(self.shares.items(), key=lambda pair: -pair[1])
        shares = [f"{name} {percent(share)}" for name, share in largest_first]
        shares *= not self.state.goals and len(set(self.state.means(exact=True).values())) > 1
        is_plain = "properties" in self.shares and not {"minimol", self.state.command.get("encoder")} & {*self.shares}
        hint = " A pretrained encoder may improve predictions: `--encoder minimol`." * is_plain
        used = "limits" if self.learns_bounds else "values"
        lists = {
            f"Round {len(self.state.rounds)} was undone: {{}}.": self.taken_back,
            f"Weights of the parts of the model: {{}}.{hint}": shares,
            **{f"Correlation of related assays with {goal}: {{}}.": self._assays(goal) for goal in self.also},
            f"Bounds, used as {used}: {{}}.": [
                f"{key} ({text})" for texts in self.results.values() for key, text in texts.items() if text[0] in "<>"
            ],
            "Salts and charged molecules, described by their parent: {}.": [
                f"{key} ({self.written[key]}) by {self.smiles_of[key]}" for key in chosen if key in self.written
            ],
            "Results with another SMILES (salts, tautomers, trusted ids): {}.": [
                f"{key} ({text})" for key, text in self.forms.items()
            ],
            "Measured, but not in the pool: {}.": self.outside,
            "Pending, but no longer in the pool: {}. Report a result or `failed` for each.": self.gone,
            "Pending: {}.": self.waiting,
            "Vetoed: {}.": [veto.text for veto in self.state.vetoed],
            "Comments: {}.": [comment.words for comment in comments],
        }
        return (
            [text for text in (self.reading, self.ending, self.limits, self.failures) if text]
            + [text.format(listed(names)) for text, names in lists.items() if names]
            + [*self.told, *flag_results(self.state)]
        )

    def explanations_of(self, identifier: str) -> dict[str, Explanation]:
        """Return the explanations for a molecule, by the name of each goal that has one."""
        return {
            name: explanations[identifier]
            for name, explanations in self.explanations.items()
            if identifier in explanations
        }

    @property
    def reading(self) -> str:
        """Report that the goal is a class, or that 0 and 1 are numbers. Empty if there are other values."""
        state = self.state
        if state.is_class:
            return f"{self.target} is a class: {'1' if state.maximize else '0'} is a hit."
        are_numbers = self.learns_bounds and not state.goals and {each.value for each in state.measured} == {0, 1}
        return f"The values 0 and 1 of {self.target} are numbers." * are_numbers

    def _assays(self, goal: str) -> list[str]:
        told = self.also[goal].items()
        return [f"{name} {r.value:+.2f} (95 % from {r.low:+.2f} to {r.high:+.2f})" for name, r in told]

    def rows(self) -> list[list[str]]:
        """Return a table with the names of the columns, and a row for each suggestion."""
        rows = [self._cells(rank, suggestion) for rank, suggestion in enumerate(self.suggested)]
        heads = [*rows[0]] if rows else ["rank", "id", *["smiles"] * (self.graphs is None)]
        return [heads, *([*row.values()] for row in rows)]

    def _cells(self, k: int, suggestion: Suggestion) -> dict[str, str]:
        key, near, explanations = suggestion.id, self.near.get(suggestion.id, ()), self.explanations_of(suggestion.id)
        cells = {"rank": str(k + 1), "id": shield(key)}
        cells |= {name: shield(text) for name, text in self.parts_of(key).items()}
        cells |= {"smiles": self.written[key]} if key in self.written else {}
        cells |= self.quantities.cells(suggestion)
        cells |= {name: shield(text) for name, text in self.bill.cells(key).items()}
        if self.fails:
            cells["probability_of_failing"] = short(self.fails[key])
        if self.graphs is None:
            for number in range(1, NEIGHBOURS + 1):
                other = near[number - 1] if number <= len(near) else None
                cells[f"nearest_{number}"] = shield(other.id) if other else ""
                cells[f"nearest_{number}_similarity"] = short(other.similarity if other else None)
                for name, texts in self.results.items():
                    cells[f"nearest_{number}_{name}"] = texts.get(other.id, "") if other else ""
        if self.graphs is None or self.slots:
            for name in self.results:
                why = explanations[name].sentence() if name in explanations else ""
                cells[f"explanation_{name}" if self.state.goals else "explanation"] = why
        taken = {name.casefold() for name in cells}
        for name, given in self.others.items():
            text = given[k] if is_number(given[k]) else shield(given[k])
            cells[f"{name} (pool)" if name.casefold() in taken else name] = text
        return cells
