from rdkit import Chem
from rdkit.Chem import Crippen

from graph_bandit_env.pools import library as module


def test_targets_are_those_of_rdkit(monkeypatch):
    monkeypatch.setattr(module, "SCAFFOLDS", module.SCAFFOLDS[:1])  # all of them take seconds
    library = module.enumerate_library("logp")
    for k in (0, 10, 100):
        assert library.targets[k] == Crippen.MolLogP(Chem.MolFromSmiles(library.smiles[k]))
