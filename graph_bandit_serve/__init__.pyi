from .run import serve as serve
from .settings import ServeSettings as ServeSettings

__version__: str
