"""The pool of a campaign may change between rounds: sold out, renamed, extended. Nothing that is known is lost."""

import json

import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_cli.main import main

MOLECULES = some_molecules()
SMILES = {f"m{k}": text for k, text in enumerate(MOLECULES.smiles)}
VALUES = {f"m{k}": value for k, value in enumerate(MOLECULES.targets.tolist())}
KNOWN = [f"m{k}" for k in range(6)]


def write_pool(smiles_of):
    write("pool.csv", [("id", "smiles"), *smiles_of.items()])


def write_results(*more):
    write("results.csv", [("id", "logp"), *((name, VALUES[name]) for name in KNOWN), *more])


@pytest.fixture
def suggest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_pool(SMILES)
    write_results()

    def run(*more):
        agent = ["--agent", "molecule-ucb"]
        command = ["suggest", "pool.csv", "--measured", "results.csv", "--n", "3", "--maximize", "logp"]
        assert main([*command, "--out", "out.csv", *agent, *more]) == 0
        return [row["id"] for row in read("out.csv")]

    return run


def saved():
    with open("out.campaign.json", encoding="utf-8") as file:
        return json.load(file)


def without(*names):
    return {name: text for name, text in SMILES.items() if name not in names}


def test_another_pool_is_another_question_and_the_batch_before_stays_pending(suggest):
    first = suggest()
    bystander = next(name for name in SMILES if name not in (*first, *KNOWN))
    write_pool(without(bystander))
    second = suggest()
    assert not set(first) & set(second)
    assert len(saved()["rounds"]) == 2
    assert saved()["pending"] == [*first, *second]
    assert suggest() == second  # the same question again
    assert len(saved()["rounds"]) == 2


def test_a_pending_molecule_that_has_left_the_pool_stays_pending_and_is_named(suggest, capsys):
    first = suggest()
    write_pool(without(first[0]))
    capsys.readouterr()
    second = suggest("--html", "out.html")
    printed = capsys.readouterr().out
    assert f"No longer in the pool: {first[0]}." in printed
    with open("out.html", encoding="utf-8") as page:
        assert f". No longer in the pool: {first[0]}." in page.read()
    assert saved()["pending"] == [*first, *second]
    assert first[0] not in second


def test_a_molecule_with_a_new_id_is_the_same_molecule(suggest):
    first = suggest()
    write_pool({f"new-{name}" if name == first[0] else name: text for name, text in SMILES.items()})
    second = suggest()
    assert f"new-{first[0]}" not in second
    assert saved()["pending"][:3] == [f"new-{first[0]}", *first[1:]]


def test_a_pool_that_gives_the_id_of_a_suggestion_to_another_molecule_is_refused(suggest, capsys):
    first = suggest()
    before = saved()
    write_pool({**SMILES, first[0]: "CCCCCCCCCCO"})
    command = ["suggest", "pool.csv", "--measured", "results.csv", "--maximize", "logp", "--out", "out.csv"]
    command += ["--agent", "molecule-ucb"]
    assert main(command) == 1
    printed = capsys.readouterr().err
    assert f"Expected `{first[0]}` to be {SMILES[first[0]]}, as in earlier rounds. The pool has CCCCCCCCCCO." in printed
    assert saved() == before
    assert main([*command, "--trust-ids"]) == 0
