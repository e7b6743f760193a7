import subprocess
import sys

import pytest
from support.messy import SMILES

from graph_bandit_campaign import PrepareSettings
from graph_bandit_campaign.pool.prepared.making import work
from graph_bandit_campaign.pool.prepared.making.run import ask
from graph_bandit_campaign.pool.prepared.making.source import Source, unpack


@pytest.fixture
def task(tmp_path):
    """Return the first chunk of a table, and the question."""
    table = tmp_path / "pool.csv"
    table.write_text("smiles,id\n" + "\n".join(f"{text},n{k}" for k, text in enumerate(SMILES)))
    settings = PrepareSettings(pool=table, out=tmp_path / "out", traits=("roles", "descriptors"))
    source = Source(settings)
    return next(source.chunks(settings.part_rows)), ask(settings, source, source.digest()[0])


def test_workers_are_small_since_they_do_not_import_torch():
    program = f"import sys, {work.__name__}; print('torch' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert printed == "False\n"


def test_a_smiles_that_rdkit_writes_and_cannot_read_is_a_bad_row(task, monkeypatch):
    chunk, question = task
    honest = work.canonical_smiles
    monkeypatch.setattr(work, "canonical_smiles", lambda text, most: "C1CC" if text == "CCO" else honest(text, most))
    _, molecules, bad, _ = work.encode(unpack(chunk.to_bytes()), 0, question)
    assert len(molecules) == len(SMILES) - SMILES.count("CCO")
    assert {row[3] for row in bad} == {"RDKit cannot read its own SMILES of it again, 'C1CC'."}


def test_a_worker_with_another_version_of_rdkit_is_refused(task, tmp_path, monkeypatch):
    chunk, question = task
    monkeypatch.setattr(work, "software", lambda: {"rdkit": "1"})
    with pytest.raises(ValueError, match="Expected workers with the versions .* Install the same ones"):
        work.make_part(tmp_path, 0, chunk.to_bytes(), [], question)
    assert not list(tmp_path.glob("part*"))
