import gzip

import pytest
from rdkit import Chem
from rdkit.Chem.Crippen import MolLogP
from rdkit.Chem.rdMolDescriptors import CalcTPSA

from benchmarks.pools import million
from benchmarks.pools.million import MillionSettings, count, write


def test_molecules_are_different_and_canonical_and_have_the_properties(tmp_path, monkeypatch):
    monkeypatch.setattr(million, "AT_A_TIME", 100)
    settings = MillionSettings(out=tmp_path / "pool.csv.gz", molecules=300, workers=1)
    write(settings)
    first = settings.out.read_bytes()
    header, *rows = gzip.decompress(first).decode().splitlines()
    assert header == "id,smiles,logp,tpsa"
    smiles = [row.split(",")[1] for row in rows]
    assert len(set(smiles)) == len(rows) == 300
    for row in rows[::50]:
        molecule = Chem.MolFromSmiles(row.split(",")[1])
        assert Chem.MolToSmiles(molecule) == row.split(",")[1]
        assert float(row.split(",")[2]) == pytest.approx(MolLogP(molecule), abs=1e-4)
        assert float(row.split(",")[3]) == pytest.approx(CalcTPSA(molecule), abs=1e-4)
    write(settings)
    assert settings.out.read_bytes() == first


def test_there_are_more_than_a_million_and_every_group_can_be_bonded(monkeypatch, tmp_path):
    assert count() > 2_000_000
    groups = len(million.LINKERS) * len(million.ENDS)
    assert len(million.make(list(range(0, groups**2, groups + 1)))) == groups
    monkeypatch.setattr(million, "SCAFFOLDS", million.SCAFFOLDS[:1])
    monkeypatch.setattr(million, "LINKERS", ("C{}",))
    with pytest.raises(ValueError, match="Expected at most"):
        list(million.enumerate_molecules(MillionSettings(out=tmp_path / "x", molecules=10**6, workers=1)))
