"""Draw an episode for `render_mode`, or one graph. This package imports matplotlib and networkx."""

from graph_bandit_env.rendering.frame import draw, draw_graph

__all__ = ["draw", "draw_graph"]
