"""Encode molecules by the message passing of a checkpoint of chemprop, which $CHEMPROP_CHECKPOINT names.

It follows chemprop's documentation, and has not been run here: chemprop is not among the packages that are tested.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from chemprop.data import BatchMolGraph
from chemprop.featurizers import SimpleMoleculeMolGraphFeaturizer
from chemprop.models import MPNN
from numpy.typing import NDArray
from rdkit import Chem


def encode(smiles: Sequence[str]) -> NDArray[np.float32]:
    """Return the learnt representation of each molecule, `(n, d)`."""
    featurizer = SimpleMoleculeMolGraphFeaturizer()
    batch = BatchMolGraph([featurizer(Chem.MolFromSmiles(text)) for text in smiles])
    with torch.no_grad():
        numbers: NDArray[np.float32] = load().fingerprint(batch).numpy()
    return numbers


@cache
def load() -> Any:
    """Return the network."""
    return MPNN.load_from_checkpoint(os.environ["CHEMPROP_CHECKPOINT"], map_location="cpu").eval()
