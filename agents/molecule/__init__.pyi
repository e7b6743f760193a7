from .agent import MoleculeAgent as MoleculeAgent
from .agent import molecule as molecule
from .network import MolecularNetwork as MolecularNetwork
from .settings import MoleculeSettings as MoleculeSettings

__all__ = [
    "MolecularNetwork",
    "MoleculeAgent",
    "MoleculeSettings",
    "molecule",
]
