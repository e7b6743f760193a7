from .described import DescribedMolecules as DescribedMolecules
