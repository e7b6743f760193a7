from .ax import PoolNode as PoolNode
from .ax import pool_parameter as pool_parameter
from .botorch import CampaignPoints as CampaignPoints
from .botorch import PoolModel as PoolModel
from .botorch import campaign_model as campaign_model
from .open_bandit import from_open_bandit as from_open_bandit
from .open_bandit import to_open_bandit as to_open_bandit
from .optuna import PoolSampler as PoolSampler
from .scikit_learn.features import GraphFeatures as GraphFeatures
from .scikit_learn.kernel import GraphKernel as GraphKernel
from .scikit_learn.kernel import GraphProcessRegressor as GraphProcessRegressor

__version__: str
