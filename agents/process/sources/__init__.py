"""Results of other quantities that go along with the rewards, and what they tell of these."""

from agents.process.sources.likelihood import learn_links
from agents.process.sources.links import LinkedKernel, Links, link
from agents.process.sources.results import Sources
from agents.process.sources.source import Source

__all__ = ["LinkedKernel", "Links", "Source", "Sources", "learn_links", "link"]
