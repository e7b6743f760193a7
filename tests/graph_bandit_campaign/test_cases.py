"""Tables as people have them: what is an entry, and which is the best, by each door through which a table comes in."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from graph_bandit_bridges import GraphProcessRegressor
from graph_bandit_campaign import Campaign
from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.command.suggestions import write_suggestions
from graph_bandit_campaign.operations.place import Place
from graph_bandit_campaign.operations.verbs import ask
from graph_bandit_campaign.pool.prepared.making.run import prepare
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_env.files import read_pool
from graph_bandit_lab import EnvironmentSettings

CHOLINE, CATION = "OCC[N+](C)(C)C.[Cl-]", "CCn1cc[n+](C)c1"


class Case(NamedTuple):
    rows: str
    """Structures and values, row by row, named from `a` on."""
    best: tuple[str, float]
    """Name and value of the best entry."""
    left: str
    """Names of the entries without a value."""
    measured: int
    """How many entries have one."""
    aim: str = "maximize"
    columns: str = "smiles,y"
    slot: tuple[str, ...] = ()
    """Columns that are part of an entry, as the command asks, beside those of structures; none: molecules."""


CASES = {
    "conditions": Case(
        "CCO,CC#N,60,10 CCO,CC#N,80,70 CCO,CS(C)=O,60, CCN,CC#N,60,20 CCN,CC#N,80, CCN,CS(C)=O,60,30",
        *(("b", 70), "ce", 4, "maximize", "smiles,solvent_smiles,temp,y", ("temp",)),
    ),
    "carbanions": Case(
        "CCO,1 [Fe+2].c1cc[cH-]c1.c1cc[cH-]c1,4 C1=CC=C[CH]1[Fe]C1C=CC=C1, O=C1[CH-]C(=O)NC(=O)N1, [CH-]1C=CC=C1,2",
        *(("b", 4), "cd", 3),
    ),
    "mixtures": Case(
        f"{CHOLINE}.NC(N)=O,2 {CHOLINE}.OCCO,7 {CHOLINE}.OC(=O)CC(O)=O, CCCCO.CC(C)=O,1 CCCCO.CCO,",
        *(("b", 7), "ce", 3),
    ),
    "atom maps": Case("[CH3:1][CH2:2][OH:3], OCC,3 CCN,1 [NH2:3][CH2:2][CH3:1], [CH3:1]Cl,", ("a", 3), "e", 2),
    "polymers": Case("*CC(C)*,3 *C(C)C*,3 *CC(*)Cl, *CCO*,1 *OCC*,", ("a", 3), "c", 2),
    "ionic liquids": Case(
        f"{CATION}.F[B-](F)(F)F,37 {CATION}.[Cl-],90 {CATION}.N#C[N-]C#N, {CATION}.CC(=O)[O-],",
        *(("a", 37), "cd", 2, "minimize"),
    ),
    "racemates": Case(
        "C[C@H](N)CC,5 C[C@@H](N)CC,90 C[C@H](N)CC_|&1:1|,11 C[C@@H](O)CC_|o1:1|, CC(O)CC,",
        *(("a", 5), "de", 3, "minimize"),
    ),
}


def write(rows, columns="smiles,y"):
    lines = [f"{'abcdefgh'[k]},{row.replace('_', ' ')}" for k, row in enumerate(rows.split(" "))]
    Path("table.csv").write_text("\n".join([f"id,{columns}", *lines]))


def suggest(pool="table.csv", aim="maximize", **given):
    pool = Path(pool)
    settings = SuggestSettings(
        pool, Path(f"{pool.stem}-next.csv"), measured=(Path("table.csv"),), **{aim: ("y",)}, n=9, workers=None, **given
    )
    return write_suggestions(settings)[0]


def prepared(**given):
    prepare(PrepareSettings(Path("table.csv"), Path("folder"), workers=None, **given))
    return "folder"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_entries_are_the_same_by_every_door(case):
    write(case.rows, case.columns)
    answers = [suggest(aim=case.aim, slot=case.slot)]
    if not case.slot:
        answers.append(suggest(prepared(), case.aim))
        assert Path("table-next.csv").read_bytes() == Path("folder-next.csv").read_bytes()
    pool = read_pool("table.csv", "y", identifier="id", slots=case.slot)
    known = np.flatnonzero(~np.isnan(pool.targets))
    campaign = Campaign(pool, maximize=case.aim == "maximize")
    campaign.tell((pool.ids[k], pool.targets[k]) for k in known)
    run = EnvironmentSettings(graphs="table.csv", target="y", slot=case.slot)
    assert {len(pool), *(answer.pool_size for answer in answers)} == {case.measured + len(case.left)}
    assert {each.state.leader() for each in (*answers, campaign)} == {case.best}
    for batch in (*(answer.suggested for answer in answers), campaign.ask(9)):
        assert {suggestion.id for suggestion in batch} == set(case.left)
    assert run.contents.num_graphs == case.measured
    if not case.slot:  # of which scikit-learn knows nothing
        process = GraphProcessRegressor().fit([pool.smiles[k] for k in known], pool.targets[known])
        assert len(process.kernel_.graphs_.distinct) == case.measured


@pytest.mark.parametrize(
    ("rows", "columns", "word"),
    [
        ("CCO,60,1 CCO,80,7 CCN,60,", "smiles,temp,y", "temp"),
        ("CCO.CC(=O)O>>CCOC(C)=O,61 CCN.CC(=O)O>>CCNC(C)=O,", "smiles,y", "reaction"),
    ],
)
def test_tables_of_no_plain_molecules_are_refused_by_every_door(rows, columns, word):
    write(rows, columns)
    doors = [suggest, prepared, lambda: read_pool("table.csv", "y"), lambda: Campaign("table.csv")]
    doors += [lambda: EnvironmentSettings(graphs="table.csv", target="y").contents]
    if word != "temp":
        doors.append(lambda: GraphProcessRegressor().fit([row.split(",")[0] for row in rows.split()], [1, 2]))
    for door in doors:
        with pytest.raises(ValueError, match=word):
            door()


@pytest.mark.parametrize("hit", ["1 0", "yes no"])
def test_two_classes_are_chances_by_the_command_and_in_python(hit):
    yes, no = hit.split()
    write(f"CCO,{yes} CCN,{no} CCCO,{no} CCCCO, CCCl,")
    campaign = Campaign("table.csv")
    campaign.tell({"a": True, "b": False, "c": False})
    batches = [campaign.ask(9), suggest().suggested, suggest(prepared()).suggested]
    for batch in batches:
        assert len(batch) == 2
        assert all(0 < each.probability < 1 and each.interval is None for each in batch)


def test_the_best_pose_counts_and_names_that_repeat_are_one_molecule():
    poses = "CCO,0,-5 CCO,1,-6.5 CCN,0,-4 CCN,1,-3 CCCl,0, CCCl,1,"
    write(poses, "smiles,pose,y")
    for pool in ("table.csv", prepared(ignore_column=("pose", "y"))):
        answer = suggest(pool, "minimize", best_of="y")
        assert (answer.pool_size, answer.best[1], len(answer.suggested)) == (3, -6.5, 1)


def test_if_all_are_measured_every_door_says_so_and_names_the_best():
    write("CCO,1 CCN,3 CCCl,2")
    answer = suggest()
    place = Place(Path("table-next.campaign.json").absolute(), workers=None)
    campaign = Campaign(read_pool("table.csv", identifier="id"))
    campaign.tell({"a": 1, "b": 3, "c": 2})
    for said in (answer.ending, " ".join(ask(place).notes), campaign.ask().note):
        assert "3 (b)" in said
