"""`graph-bandit mcp`: offer the campaigns of a folder as tools to a language model."""

from __future__ import annotations

from dataclasses import dataclass

from graph_bandit_serve import McpSettings, serve_tools


@dataclass(frozen=True)
class Command(McpSettings):
    """Settings of the tools."""

    def run(self) -> int:
        """Serve until stdin is closed, or Ctrl-C."""
        serve_tools(self)
        return 0
