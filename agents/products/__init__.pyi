from .process import BlockKernel as BlockKernel
from .process import ProductProcess as ProductProcess
from .process import Scores as Scores
from .process import Weights as Weights
from .search import Best as Best
from .search import find_best as find_best
