"""Agents that learn a network on graphs: parts, and how the zoo composes them."""
