"""A pool gets three salts of each base and acid, and joined forms are one compound."""

import pandas as pd
from support.molecules import some_molecules

from benchmarks.pools.studies import salts as plays
from benchmarks.pools.studies.salts import SaltsStudy, count_lost, forms_of
from graph_bandit_env import from_smiles


def test_bases_and_acids_have_salts_and_others_none():
    assert forms_of("CCN") == ["CCN", "CCN.Cl", "CCN.O=C(O)C(F)(F)F", "CCN.Cc1ccc(S(=O)(=O)O)cc1"]
    assert forms_of("O=C(O)Cc1ccccc1")[1] == "O=C(O)Cc1ccccc1.[Na+]"
    assert [forms_of(text) for text in ("CCO", "CC(N)=O", "Nc1ccccc1")] == [["CCO"], ["CC(N)=O"], ["Nc1ccccc1"]]


def test_a_limit_leaves_out_salts_of_light_bases_unless_they_are_joined():
    each = [forms_of("CCOc1ccccc1CN1CCN(C(=O)c2ccc(NC(=O)c3ccccc3)cc2)CC1"), forms_of("CCN"), ["CCO"]]
    smiles = [text for texts in each for text in texts]
    pools = [from_smiles(smiles, ids=[*map(str, range(9))], forms=forms) for forms in ("apart", "joined")]
    assert [count_lost(pool, each) for pool in pools] == [1, 0]


def test_joined_forms_are_one_compound_of_a_batch(tmp_path, monkeypatch):
    molecules = from_smiles(["NCC" + text for text in some_molecules(90).smiles], range(90))
    monkeypatch.setattr(plays, "read_molecules", lambda *_: molecules)
    monkeypatch.setattr(plays, "MOST", 80)
    asked = SaltsStudy(data=tmp_path, starts=1)
    rows = [asked.play_alone("p", 0, forms, True)[0] for forms in ("apart", "joined")]
    apart, joined = (dict(zip((*asked.key, *asked.scores), row, strict=True)) for row in rows)
    assert (joined["different"], joined["spread"], joined["lost"]) == (8, 0, 0)
    assert apart["spread"] > 0
    (alone,) = asked.play("p", 0, "apart", False)
    assert alone[1:3] == (0, 8.0)
    assert apart["compounds"] == joined["compounds"] == 80
    ((_, table),) = asked.tables(pd.DataFrame(rows, columns=[*asked.key, *asked.scores]))
    assert [row[3] for row in table[1:]] == ["apart", "joined"]
