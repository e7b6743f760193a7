"""Draw an episode, for `render_mode`, or one graph. matplotlib and networkx are imported when the first is drawn."""

from graph_bandit_env.rendering.renderer import Renderer, draw_graph

__all__ = ["Renderer", "draw_graph"]
