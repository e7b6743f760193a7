from .run import serve as serve
from .settings import McpSettings as McpSettings
from .settings import ServeSettings as ServeSettings
from .tools.stdio import serve_tools as serve_tools

__version__: str
