from .choice import choose_batch as choose_batch
from .products import DEVIATIONS as DEVIATIONS
from .products import BlockBeliefs as BlockBeliefs
from .products import ProductLists as ProductLists
