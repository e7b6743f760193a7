from .encoder import GraphSetEncoder as GraphSetEncoder
from .encoder import MeanNodeNetwork as MeanNodeNetwork
from .policy import GraphSetActorCritic as GraphSetActorCritic
