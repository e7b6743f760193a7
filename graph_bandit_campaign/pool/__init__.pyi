from .described import DescribedMolecules as DescribedMolecules

__all__ = ["DescribedMolecules"]
