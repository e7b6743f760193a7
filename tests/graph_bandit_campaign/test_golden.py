"""Twenty-seven runs of the command: exit codes, files, ids and numbers as `golden.json` has them, and no prose.

`python tests/graph_bandit_campaign/test_golden.py` writes that file anew, with PYTHONPATH=.:tests.
"""

import contextlib
import csv
import io
import json
import math
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import networkx as nx
import pandas as pd
import pytest
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import Store
from graph_bandit_cli.main import main

EXPECTED = Path(__file__).with_name("golden.json")
SLOW = ("a library", "products")  # molecules by the thousand
DIGITS, ROWS = 4, 12  # significant digits; rows of a table that are listed one by one
FAST = "--agent molecule-ucb:short_list=20"
BASE = "--n 4 --workers None --out out.csv"
ASK = f"suggest pool.csv --maximize logp {BASE}"
LOGP = f"{ASK} --measured results.csv"
GOALS = f"suggest pool.csv --measured several.csv {BASE} {FAST}"
NETS = "suggest nets.jsonl --measured scores.csv --out out.csv --n 2 --maximize score"
SALT = "suggest salts.csv --measured results.csv --maximize logp --workers None --n 6"
SCORE = f"--score '{sys.executable} score.py' --jobs 1 --chunk 8 --workers None {FAST}"
FEW = "smiles,id,logp\nCCO,a,{0}\nCCN,b,{1}\nCCCO,c,{2}\nCCCN,d,"
HITS = "id,hit\nm0,no\nm1,yes\nm2,no\nm3,hit\nm4,0\nm5,no\nm6,TRUE\nm7,failed\n"
HIT = f"suggest pool.csv --measured hits.csv --maximize hit {BASE} {FAST}"
END = "suggest few.csv --measured few.csv --maximize logp --n 2 --workers None --out out.csv --html out.html"
CONDITIONS = "id,smiles,solvent smiles,temp,who,logp\n" + "".join(
    f"r{k},CC{'CNO'[k % 3]},{('CC#N', 'CS(C)=O')[k % 2]},{60 + 20 * (k % 5)},{'ab'[k % 2]},{'' if k % 6 > 3 else k}\n"
    for k in range(24)
)
MADE = "suggest runs.csv --measured runs.csv --maximize logp --n 2 --workers None --out out.csv"
RUNS = {
    "a table, with all that is written": (f"{LOGP} --html out.html --predictions all.csv",),
    "a workbook": (
        f"suggest book.xlsx --measured book.xlsx --measured-sheet results --maximize logp {BASE} {FAST} --out out.xlsx",
    ),
    "an SDF file": (f"suggest pool.sdf --measured results.csv --maximize logp {BASE} {FAST} --out out.csv",),
    "a first batch": (f"suggest pool.smi --maximize logp {BASE} {FAST} --seed 3", f"{LOGP} {FAST} --out other.tsv"),
    "other graphs": (f"{NETS} --predictions all.csv",),
    "goals of other graphs": (f"{NETS} --minimize size --price 2 --budget 3 --agent gp-ei", f"{NETS} --directed True"),
    "a front": (f"{GOALS} --maximize logp --minimize tpsa --predictions all.csv",),
    "a weighted sum": (f"{GOALS} --target logp=1..3 --minimize tpsa --weights logp=2 tpsa=1 --require 'yield>0.3'",),
    "bounds and failures": tuple(
        f"{ASK} {FAST} --measured results.csv odd.csv {more}" for more in ("", "--ignore-failures")
    ),
    "noise": (f"{ASK} {FAST} --measured noisy.csv --noise sd --n 1",),
    "a budget and caps": (f"{LOGP} {FAST} --price price --budget 30 --max-per-group 1 --group-by scaffold",),
    "a budget alone": (
        f"suggest pool.csv --measured results.csv --minimize logp {BASE} {FAST} --price price --budget 20 "
        "--budget-only --max-per-group 2 --group-by vendor",
    ),
    "classes": (
        ("hits.csv", HITS),
        f"{HIT} --predictions all.csv --html out.html",
        f"{HIT} --out small.csv".replace("--max", "--min"),
        f"suggest pool.csv --measured hits.csv {BASE} {FAST} --maximize hit --minimize logp --out several.csv",
        ("hits.csv", HITS + "m9,maybe\n"),
        HIT,
        ("hits.csv", HITS),
        f"{HIT} --goal-kind hit=number",
        HIT,
        f"{HIT} --goal-kind hit=class",
        "prepare pool.csv --out ready --workers None",
        f"{HIT} --out prepared.csv".replace("pool.csv", "ready"),
        f"{HIT} --out other.csv --agent random --goal-kind hit=class",
    ),
    "limits": (f"{LOGP} {FAST} --require mw=100..190 'docking>-2' --forbid 'c[F,Cl]' --filter stock=yes",),
    "marks": (
        f"{LOGP} {FAST} --pin m40 --comment 'm40=not much left' --user Ada",
        f"{LOGP} {FAST} --veto m40=smells --veto m30 --user Ada",
        f"{LOGP} {FAST} --lift m40 --n 2",
        f"{LOGP} {FAST} --veto m0",
    ),
    "another assay": (f"{LOGP} {FAST} --related-assay assay.csv:ic50 --related-assay assay.csv:active",),
    "own columns": (f"{LOGP} {FAST} --features docking vectors.npz",),
    "salts": (f"{SALT} --out joined.csv {FAST}", f"{SALT} --out apart.csv {FAST} --salts separate"),
    "conditions": (
        ("runs.csv", CONDITIONS),
        MADE,
        f"{MADE} --ignore-column temp who --out means.csv",
        f"{MADE} --slot temp --ignore-column who --predictions all.csv",
        f"{MADE} --best-of logp --out best.csv",
    ),
    "a prepared pool": (
        "prepare pool.csv --out ready --workers None",
        "suggest ready --measured results.csv --maximize logp --n 4 --workers None --out out.csv --predictions all.csv "
        f"{FAST} --require mw<200 --price price",
    ),
    "products": (
        "example-data --products --out lib --measured 12",
        f"suggest lib/library.toml --measured lib/measured.csv --maximize qed {BASE} --n 3 "
        "--price price --max-per-group 1 --group-by amine --require mw<350",
    ),
    "a campaign": (
        f"{LOGP} {FAST}",
        f"{LOGP} {FAST}",
        ("results.csv", "id,logp\nm0,{0}\nm1,{1}\nm2,{2}\nm3,{3}\nm20,{20}\nm21,failed\n"),
        f"{LOGP} {FAST}",
        f"{LOGP} {FAST} --drop-missing",
        f"{LOGP} {FAST} --next-batch --n 1",
        f"{LOGP} {FAST} --undo --n 2",
        f"{LOGP} {FAST} --again --n 3",
    ),
    "the end of a pool": (("few.csv", FEW), END, ("few.csv", FEW + "{3}"), END),
    "agents": tuple(
        f"{LOGP} --agent {agent} --out {agent}.csv"
        for agent in ("molecule-ts", "molecule-greedy", "molecule-ei", "gp-ucb", "random", "gntk-ucb")
    ),
    "refusals": (
        "suggest nowhere.csv --measured results.csv --maximize logp --out out.csv",
        f"{LOGP} --maximize nothing",
        f"{LOGP} --agent nobody",
        f"{ASK} --measured wrong.csv",
        f"suggest twice.csv --measured results.csv --maximize logp {BASE} {FAST}",
        f"suggest twice.csv --measured results.csv --maximize logp {BASE} {FAST} --skip-bad-rows",
        f"{LOGP} {FAST} --minimize logp",
    ),
    "a backtest": (
        "backtest finished.csv --out replay --maximize logp --n 4 --start 6 --budget 14 --starts 5 --workers None "
        f"--baselines molecule-greedy {FAST.replace('agent', 'agents')}",
    ),
    "a screen": (
        f"screen pool.csv --maximize carbons --out all.csv --evaluations 16 --n 8 {SCORE}",
        f"screen pool.csv --maximize carbons --out all.csv --evaluations 20 --n 8 {SCORE}",
    ),
    "a library": (
        "example-data --out lib --property logp --measured 20 --seed 1",
        "cache --clear",
    ),
}
PROGRAM = """import csv, sys
with open(sys.argv[1]) as given, open(sys.argv[2], "w") as made:
    print("id,value", file=made)
    for row in csv.DictReader(given):
        print(row["id"], row["smiles"].upper().count("C") + len(row["smiles"]) / 100, sep=",", file=made)
"""


def write_inputs(folder):
    """Write tables of 48 molecules, and of 14 other graphs; return the measured value of each molecule."""
    import numpy as np
    import openpyxl
    from rdkit import Chem
    from rdkit.Chem.rdMolDescriptors import CalcTPSA

    molecules = some_molecules(48)
    size, logp = range(48), [round(float(value), 3) for value in molecules.targets]
    parsed = [Chem.MolFromSmiles(text) for text in molecules.smiles]
    tpsa = list(map(CalcTPSA, parsed))
    names = [f"m{k}" for k in size]
    pool = [("id", "smiles", "vendor", "price", "stock", "docking")]
    pool += [
        (names[k], molecules.smiles[k], "ABC"[k % 3], 5 + k % 7, "yes" if k % 4 else "no", round(math.sin(k) * 5, 2))
        for k in size
    ]
    results = [("id", "logp"), *((names[k], logp[k]) for k in range(8))]
    write(folder / "pool.csv", pool)
    write(folder / "results.csv", results)
    write(folder / "pool.smi", [(f"{molecules.smiles[k]} {names[k]}",) for k in size])
    rows = [(names[k], logp[k], tpsa[k] if k % 3 else "", round(abs(math.cos(k)), 3)) for k in range(10)]
    write(folder / "several.csv", [("id", "logp", "tpsa", "yield"), *rows])
    write(folder / "finished.csv", [("id", "smiles", "logp"), *zip(names, molecules.smiles, logp, strict=True)])
    odd = [(names[k], "failed" if "N" in molecules.smiles[k] else f">{logp[k]}") for k in range(10, 30)]
    write(folder / "odd.csv", [("id", "logp"), *odd])
    write(folder / "noisy.csv", [("id", "logp", "sd"), *((names[k], logp[k], 0.1 + k % 5) for k in range(8))])
    write(folder / "wrong.csv", [("id", "logp"), ("m1", "much")])
    assay = [(molecules.smiles[k], f">{logp[k]}" if k % 5 else logp[k], "yes" if logp[k] > 2 else "no") for k in size]
    write(folder / "assay.csv", [("smiles", "ic50", "active"), *assay])
    write(folder / "salts.csv", [("id", "smiles"), *(row[:2] for row in pool[1:25]), *salts(molecules.smiles, names)])
    write(folder / "twice.csv", [*pool, ("m30", "CCO"), ("bad", "C1CC")])
    book = openpyxl.Workbook()
    book.active.title = "pool"
    for title, table in (("pool", pool), ("results", results)):
        sheet = book["pool"] if title == "pool" else book.create_sheet(title)
        for row in table:
            sheet.append(row)
    book.save(folder / "book.xlsx")
    with Chem.SDWriter(str(folder / "pool.sdf")) as writer:
        for k, molecule in enumerate(parsed):
            molecule.SetProp("id", names[k])
            writer.write(molecule)
    np.savez(folder / "vectors.npz", ids=np.array(names), values=np.array([[k % 5, k % 3] for k in size], np.float32))
    (folder / "score.py").write_text(PROGRAM)
    lines, scores = [], [("id", "score", "size")]
    for k in range(14):
        graph = nx.connected_watts_strogatz_graph(6 + k % 5, 4, 0.1 * (k % 7), seed=k)
        for node in graph:
            graph.nodes[node]["x"] = [graph.degree[node] / 4, 1.0]
        graph.graph = {"id": f"net-{k}"}
        lines.append(json.dumps(nx.node_link_data(graph, edges="edges")))
        scores.append((f"net-{k}", round(nx.average_clustering(graph), 4), len(graph)))
    (folder / "nets.jsonl").write_text("\n".join(lines))
    write(folder / "scores.csv", scores[:7])
    return logp


def salts(smiles, names):
    """Return rows of salts of the last ones of 24 molecules, and of a salt without a parent."""
    return [(f"{names[k]}-salt", f"{smiles[k]}.Cl") for k in range(16, 24)] + [("salt", "[Na+].[Cl-]")]


def outcome(steps, values):
    """Return what the steps of a run do in the working folder."""
    before, codes = {path.name for path in Path().iterdir()}, []
    for step in steps:
        if isinstance(step, tuple):
            Path(step[0]).write_text(step[1].format(*values))
            continue
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            try:
                codes.append(main(shlex.split(step)))
            except SystemExit as end:
                codes.append(end.code)
    made = sorted(path.as_posix() for path in Path().rglob("*") if path.is_file() and path.parts[0] not in before)
    files = [path for path in made if not path.startswith((".", "ready", "again"))]
    tables = {path: numbers_of(rows) for path in files if (rows := rows_of(path)) is not None}
    states = {path: told(Store(path).state) for path in files if path.endswith(".campaign.json")}
    return {"codes": codes, "files": files, "tables": tables, "campaigns": states}


def rows_of(path):
    """Return the rows of a table; None of another file."""
    if path.endswith(".xlsx"):
        return pd.read_excel(path, dtype=str, keep_default_na=False).to_dict("records")
    if path.endswith(".tsv"):
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, delimiter="\t"))
    return read(path) if path.endswith(".csv") else None


def numbers_of(rows):
    """Return the id and the numbers of each row, or of many rows their count and the means of their numbers."""
    if len(rows) <= ROWS:
        return [[row.get("id", ""), *filter(None, map(number, row.values()))] for row in rows]
    columns = [[float(cell) for row in rows if (cell := number(row[name])) is not None] for name in rows[0]]
    return [len(rows), *(number(sum(column) / len(column)) for column in columns if column)]


def number(cell):
    """Return a cell rounded; None if it holds none."""
    try:
        return float(f"{float(cell):.{DIGITS}g}")
    except ValueError:
        return None


def told(state):
    """Return what a campaign knows."""
    return {
        "rounds": [[suggestion.id for suggestion in suggested] for suggested in state.rounds],
        "measured": len(state.measured),
        "failed": list(state.failed),
        "pending": list(state.pending),
        "vetoed": sorted(state.vetoes),
        "pinned": list(state.pinned),
    }


def near(value):
    """Return a value with which another one of other last digits is equal."""
    if isinstance(value, dict):
        return {key: near(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [near(entry) for entry in value]
    return pytest.approx(value, rel=5e-3, abs=1e-3) if isinstance(value, float) else value


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    return folder, write_inputs(folder)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in RUNS]
)
def test_a_run_of_the_command_does_what_it_did(name, inputs, tmp_path, monkeypatch):
    folder, values = inputs
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    expected = json.loads(EXPECTED.read_text())[name]
    assert outcome(RUNS[name], values) == near(expected)


def record():
    """Write what all runs do now."""
    lines = []
    for name, steps in RUNS.items():
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            found = outcome(steps, write_inputs(Path(folder)))
            lines.append(f"{json.dumps(name)}: {json.dumps(found)}")
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    os.environ["GRAPH_BANDIT_CACHE"] = tempfile.mkdtemp()
    record()
