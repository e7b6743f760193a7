from .batch import BatchConstraints as BatchConstraints
from .scaffolds import murcko_scaffolds as murcko_scaffolds
