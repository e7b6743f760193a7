from .ax import PoolNode as PoolNode
from .ax import pool_parameter as pool_parameter
from .botorch import CampaignPoints as CampaignPoints
from .botorch import PoolModel as PoolModel
from .botorch import campaign_model as campaign_model
from .optuna import PoolSampler as PoolSampler

__version__: str
