from .batch import BatchConstraints as BatchConstraints
from .offers import murcko_scaffolds as murcko_scaffolds
