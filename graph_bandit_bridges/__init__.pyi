from .optuna import PoolSampler as PoolSampler

__version__: str
