"""Draw an episode, for `render_mode`. matplotlib and networkx are imported when the first frame is drawn."""

from graph_bandit_env.rendering.renderer import Renderer

__all__ = ["Renderer"]
