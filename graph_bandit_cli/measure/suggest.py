"""`graph-bandit suggest`: choose molecules to measure next."""

from __future__ import annotations

from dataclasses import dataclass

from graph_bandit_campaign import SuggestSettings, suggest
from graph_bandit_cli.measure.words import in_words_of_the_command
from graph_bandit_env.files import holds_molecules


@dataclass(frozen=True)
class Command(SuggestSettings):
    """Settings of a suggestion."""

    def run(self) -> int:
        """Choose molecules, and write suggestions, campaign and page."""
        with in_words_of_the_command(lambda: holds_molecules(self.pool, self.smiles, self.sheet)):
            suggest(self)
        return 0
