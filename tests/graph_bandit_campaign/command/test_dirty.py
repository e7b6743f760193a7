"""A campaign of two goals and a limit on dirty tables: nothing that was told is lost, doubled, or changed."""

import csv
import json

import openpyxl
import pytest
from rdkit import Chem
from support.molecules import some_molecules
from support.tables import read

from graph_bandit_cli.main import main

MOLECULES = some_molecules(40)
SMILES = {**{f"m{k}": text for k, text in enumerate(MOLECULES.smiles)}, "pyridone": "Oc1ccccn1"}
KNOWN = [*(f"m{k}" for k in range(6)), "pyridone"]
OPTIONS = ["--maximize", "sol", "--minimize", "hlm", "--require", "mw<450", "er<0.8", "--n", "4"]
GOALS = ("sol", "hlm", "er")


class Team:
    """The tables of a project team, and its own account of what it told, which never looks at the campaign's."""

    def __init__(self):
        self.names, self.offered = {key: key for key in SMILES}, set(SMILES)  # the id that each molecule has now
        self.solubility, self.clearance = [], []  # rows as written
        self.told, self.failed, self.suggested = set(), set(), []
        for k, key in enumerate(KNOWN):
            self.tell(key, sol=k / 4, hlm=k % 3 + 0.5, er=k / 10)

    def tell(self, key, sol=None, hlm=None, er=None, smiles=None):
        """Write down results: solubility under the id in one table, the rest under a SMILES in the other."""
        if sol is not None:
            self.solubility.append([self.names[key], str(sol).replace(".", ","), ""])
        if hlm is not None or er is not None:
            self.clearance.append([smiles or SMILES[key], hlm, er])
        for goal, cell in zip(GOALS, (sol, hlm, er), strict=True):
            if cell == "failed":
                self.failed.add(key)
            elif cell is not None:
                text = str(cell)
                bound = {">": "above", "<": "below"}.get(text[0], "")
                self.told.add((key, goal, float(text.lstrip("<>")), bound))

    def write(self):
        rows = [(self.names[key], SMILES[key], f"vendor {key[-1]}") for key in SMILES if key in self.offered]
        with open("pool.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("id", "smiles", "vendor"), *rows])
        lines = ["id;sol;smiles;remark", *(";".join([*row, "gelöst, klar"]) for row in self.solubility)]
        with open("solubility.csv", "w", encoding="utf-8-sig", newline="\r\n") as file:
            file.write("\n".join(lines) + "\n")
        book = openpyxl.Workbook()
        for row in [["plate", "smiles", "hlm", "er"], *(["P1", *row] for row in self.clearance)]:
            book.active.append(row)
        book.save("clearance.xlsx")

    def run(self, *more):
        self.write()
        tables = ["pool.csv", "--measured", "solubility.csv", "clearance.xlsx"]
        files = ["--out", "out.csv", "--html", "out.html", "--agent", "molecule-ucb:short_list=10"]
        return main(["suggest", *tables, *OPTIONS, *files, *more])

    def suggest(self):
        """Ask for a batch, and compare the campaign with the account."""
        assert self.run() == 0
        keys = {name: key for key, name in self.names.items()}
        batch = [keys[row["id"]] for row in read("out.csv")]
        assert len(set(batch)) == 4
        assert not set(batch) & {*self.suggested, *self.settled(), *self.failed}
        assert set(batch) <= self.offered
        self.suggested += batch
        self.compare()
        return batch

    def compare(self):
        state = saved()
        told = [
            (result["id"], result["goal"], result["value"], result.get("bound", "")) for result in state["measured"]
        ]
        exact = {(key, goal) for key, goal, _, bound in self.told if not bound}
        counted = [entry for entry in self.told if not entry[3] or entry[:2] not in exact]
        assert sorted(told) == sorted((self.names[key], *rest) for key, *rest in counted)
        assert sorted(state["failed"]) == sorted(self.names[key] for key in self.failed - self.settled())
        waiting = set(self.suggested) - self.settled() - self.failed
        assert sorted(state["pending"]) == sorted(self.names[key] for key in waiting)

    def settled(self):
        known = [{key for key, name, *_ in self.told if name == goal} for goal in GOALS]
        return set.intersection(*known)


def saved():
    with open("out.campaign.json", encoding="utf-8") as file:
        return json.load(file)


def other_spelling(smiles):
    return Chem.MolToSmiles(Chem.MolFromSmiles(smiles), canonical=False, rootedAtAtom=2)


@pytest.fixture
def team(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Team()


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_in_five_rounds(team, capsys):
    first, second, third, fourth = team.suggest()
    team.tell(first, 1.5, 2.5, 0.3, smiles=f"{SMILES[first]}.Cl")
    team.tell(second, sol=2.25, hlm="failed")
    team.tell(third, sol=">3.5", smiles=other_spelling(SMILES[third]), er=0.9)
    team.tell("m0", sol=0.0)  # the same value again
    team.tell("m1", sol=0.75)  # another one
    team.tell("pyridone", hlm=7.5, smiles="O=c1cccc[nH]1")
    capsys.readouterr()
    batch = team.suggest()
    printed = capsys.readouterr().out
    told = (f"Without a result for every goal, so counted as pending: {third}, {fourth}.",)
    told += ("1 repeated results left out, 1 failed", f"{SMILES[first]}.Cl", "O=c1cccc[nH]1", f"{third}, sol (>3,5)")
    assert [text for text in told if text not in printed] == [], printed

    team.offered -= {third, batch[0], "m2"}  # sold out: half measured, pending, measured
    team.names[fourth] = f"new-{fourth}"
    team.tell(third, sol=4.25, hlm="<0.5")  # the exact value replaces the bound
    team.tell(batch[1], 1.0, hlm="<0.1", er="<0.05")
    capsys.readouterr()
    team.suggest()
    assert f"No longer in the pool: {batch[0]}." in capsys.readouterr().out

    team.tell(fourth, 3.0, 1.25, 0.2, smiles=f"Br.{SMILES[fourth]}")
    team.tell(batch[0], 0.25, 0.75, 0.5)
    team.tell(second, hlm=1.0, er=0.7)  # it worked the second time
    team.offered |= {batch[0]}
    team.suggest()
    team.tell(batch[2], sol="failed")
    team.solubility.reverse()  # someone sorted the table
    team.suggest()
    assert [len(suggested) for suggested in saved()["rounds"]] == [4] * 5
