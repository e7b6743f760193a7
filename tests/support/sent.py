"""Every kind of file that somebody may send: how it is read, and what hostile ones try."""

from types import SimpleNamespace

from graph_bandit_campaign import Campaign
from graph_bandit_campaign.backtest.kept import RESULTS, SETTINGS, Kept
from graph_bandit_campaign.constraints.limits.patterns import read_pattern
from graph_bandit_campaign.pool.prepared import PreparedPool
from graph_bandit_campaign.screening.program import read_values
from graph_bandit_env import from_smiles, from_smiles_csv
from graph_bandit_env.files import read_embeddings, read_pool
from graph_bandit_env.pools.products import read_product_library
from graph_bandit_lab import load_results
from graph_bandit_lab.design import read_sweep
from graph_bandit_lab.design.grids import read_tuned
from graph_bandit_lab.design.sweep_file import read_tables
from graph_bandit_lab.logged import Log
from graph_bandit_lab.storage import import_results
from support.bombs import BOMBS
from support.hostile import (
    DEEP,
    HUGE,
    PLAYED,
    SETTINGS_OF_ENVIRONMENT,
    Zeros,
    archive,
    ask_for_gigabytes,
    backtest,
    bomb,
    book,
    campaign,
    deep,
    embeddings,
    expanded,
    forged,
    gigabytes,
    graph,
    library,
    log,
    long_part,
    many_molecules,
    many_rows,
    multiply_rows,
    npy,
    outside,
    packed,
    part_outside,
    pickle_file,
    pickled,
    prepared,
    repeated_text,
    results,
    sweep,
    torch_file,
    write,
    zeros_of_xz,
    zipped,
)


def read_molecules(path):
    return from_smiles_csv(path, cache=False).smiles


def read_campaign(path):
    return repr(Campaign(from_smiles(["CCO", "CCN", "CCC"]), state=path).ids)


def read_results(path):
    return load_results(path.parent)["label"].tolist()


def read_blocks(path):
    pool = PreparedPool.open(path)
    return len(pool), [block.smiles for block in pool.blocks(())]


def read_rounds(path):
    import_results(path.parent / "taken", [path])
    return load_results(path.parent / "taken").to_dict("records")


def read_settings(path):
    return read_tuned(path, "steps").settings


def read_sweeps(path):
    return len(read_sweep(path).plan().repetitions)


def read_products(path):
    library, remarks = read_product_library(path)
    return remarks, library.make(range(min(len(library), 100)))


def read_scores(path):
    try:
        return read_values(path, {"a", "b"})
    except ValueError as error:
        raise ValueError(f"Expected values: {error}") from None


def read_plays(path):
    table = SimpleNamespace(
        digest=lambda: "d", maximize=True, start=1, budget=2, molecules=SimpleNamespace(ids=("a", "b")), values=(0, 1)
    )
    return len(Kept(path, table, 0, {}).plays)


def read_smarts(path):
    return read_pattern(str(path)).smarts


READERS = {
    "tables": read_molecules,
    "graphs": lambda path: len(read_pool(path)),
    "embeddings": read_embeddings,
    "substructures": read_smarts,
    "campaigns": read_campaign,
    "sweeps": read_sweeps,
    "where tables are": read_tables,
    "product libraries": read_products,
    "values of a program": read_scores,
    "tuned settings": read_settings,
    "results": read_results,
    "exports": read_rounds,
    "logs": lambda path: Log.load(path).num_rounds,
    "prepared pools": read_blocks,
    "backtests": read_plays,
}


def read(kind, path):
    """Read a file of a kind; return the beginning of what it holds, or refuse it in an error that can be sent."""
    try:
        return str(READERS[kind](path))[:2000]
    except ValueError as error:
        place, expected, words = str(error).partition("xpected ")
        raise ValueError(f"E{expected}{words}" if place.endswith((": e", "E")) else str(error)) from None


BOTH = Zeros(1 << 31), Zeros(1000)  # told, and not told
NESTED = b"[" * DEEP
TEXTS, NUMBERS = npy((HUGE,), "<U0"), npy((HUGE, 0), "<f8")
ONE_ID = npy((1,), "<U1", "a".encode("utf-32-le"))
ABOUT = npy((2,), "|u1", b"{}")
COMPUTED = {
    "a table that is computed": results(
        "ALTER TABLE repetitions RENAME TO kept",
        "CREATE VIEW repetitions AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) "
        "SELECT kept.* FROM n, kept",
    ),
    "a trigger": results(
        "CREATE TRIGGER swap AFTER INSERT ON repetitions BEGIN UPDATE repetitions SET seed = seed + 1; END"
    ),
    "a column that is computed": results(
        "ALTER TABLE repetitions ADD COLUMN more BLOB AS (zeroblob(999999999)) VIRTUAL"
    ),
}

EXPORTS = {
    "code": packed(forged("regret", pickled())),
    "code in diagnostics": packed(forged("diagnostics", zipped({"a.npy": pickled()}))),
    "a header of terabytes": packed(forged("regret", npy((HUGE,), "<f8"))),
    "texts without letters": packed(forged("diagnostics", zipped({"a.npy": TEXTS}))),
    "gigabytes in diagnostics": packed(forged("diagnostics", zipped({"a.npy": BOTH[0]}))),
    "gigabytes, told as a kilobyte": packed(forged("diagnostics", zipped({"a.npy": BOTH[1]}))),
    "gigabytes": zeros_of_xz,
    "a dictionary of gigabytes": packed(results(), ask_for_gigabytes),
    "deep brackets": packed(forged("environment", NESTED.decode())),
    "rows without end": packed(results(change=multiply_rows)),
    "a column whose name is a statement": packed(
        results('ALTER TABLE repetitions ADD COLUMN "x) SELECT 1; DROP TABLE repetitions; --" TEXT')
    ),
    **{name: packed(attack) for name, attack in COMPUTED.items()},
}

HOSTILE = {
    "tables": {
        **{name: lambda folder, name=name: bomb(name)(folder) for name in BOMBS},
        "a sheet of gigabytes": book(BOTH[0]),
        "a sheet of gigabytes, told as a kilobyte": book(BOTH[1]),
        "a long text stored once": write("t.parquet", lambda folder: repeated_text(10**5, 1 << 20)),
        "brackets of an SDF file": write("t.sdf", b"t\n>" + b"<" * ((1 << 22) - 100) + b"\n$$$$\n"),
    },
    "graphs": {
        "code": torch_file,
        "code without an archive": pickle_file,
        "one number as a billion": expanded,
        "gigabytes": lambda folder: archive(folder / "g.pt", {"g/data.pkl": BOTH[0]}),
        "gigabytes, told as a kilobyte": lambda folder: archive(folder / "g.pt", {"g/data.pkl": BOTH[1]}),
        "deep brackets": write("g.jsonl", NESTED),
        "a node with a huge number": write("g.jsonl", graph(edges=[{"source": 0, "target": HUGE}])),
        "code in a text": write("g.jsonl", graph(__reduce__=["os.system", "mkdir pwned"])),
    },
    "embeddings": {
        "code": embeddings(pickled(), pickled()),
        "texts without letters": embeddings(TEXTS, NUMBERS),
        "a header of terabytes": embeddings(ONE_ID, npy((HUGE,), "<f8")),
        "gigabytes": embeddings(*BOTH[:1] * 2),
        "gigabytes, told as a kilobyte": embeddings(*BOTH[1:] * 2),
        "a long text stored once": write("e.parquet", lambda folder: repeated_text(10**5, 1 << 20, ("id", "x"))),
    },
    "substructures": {
        "deep brackets": write("s.smarts", b"[$(" * 20_000),
        "code": write("s.smarts", b"__import__('os').mkdir('pwned')"),
    },
    "campaigns": {
        "a function": campaign(agent="os:mkdir:path=pwned"),
        "deep brackets": write("c.campaign.json", NESTED),
        "a number of many digits": write("c.campaign.json", b'{"format": 1' + b"0" * DEEP + b"}"),
        "a huge seed": campaign(seed=HUGE**9),
        "a round that is huge": campaign(measured=[{"id": "CCO", "value": 1.0, "round": HUGE}]),
        "a command": campaign(sources={"command": "mkdir pwned"}),
        "an agent of a huge width": campaign(agent=f"gnn-ts:width={HUGE}"),
    },
    "sweeps": {
        "a function": sweep('agents = ["os:mkdir:path=pwned"]'),
        "graphs in another folder": outside,
        "deep brackets": sweep("agents = " + "[" * DEEP),
        "many repetitions": sweep(f'agents = ["random"]\nrepetitions = {HUGE}'),
        "many combinations": sweep(
            'agents = ["random"]\n[[grid]]\nenvironment = {'
            + ", ".join(f"{name} = [{', '.join(map(str, range(1, 100)))}]" for name in SETTINGS_OF_ENVIRONMENT)
            + "}"
        ),
        "many graphs": sweep(f'agents = ["random"]\n[[grid]]\nenvironment = {{num_graphs = {HUGE}}}'),
    },
    "where tables are": {"deep brackets": sweep("a = " + "[" * DEEP)},
    "product libraries": {
        "blocks in another folder": library(blocks="../private.csv"),
        "deep brackets": sweep("reactions = " + "[" * DEEP),
        "a command": sweep('score = "mkdir pwned"\nreactions = []'),
        "a reaction of megabytes": library(smarts="C" * 10**7),
        "a thousand reactants": library(smarts=".".join(["[C:1]"] * 900) + ">>[C:1]"),
        "blocks that react in endless ways": library(rows=(f"OC(=O){'C(C(=O)O)' * 60}C", f"NC{'C(N)' * 60}C")),
    },
    "values of a program": {
        "gigabytes": gigabytes,
        "a cell of megabytes": write("v.csv", b"id,value\na," + b"1" * (1 << 21)),
        "a million rows": write("v.csv", b"id,value\n" + b",\n" * 1_000_000),
        "a million columns": write("v.csv", b"," * 1_000_000 + b"id,value\n"),
        "a number of many digits": write("v.csv", b"id,value\na," + b"9" * DEEP),
        "code": write("v.csv", b"id,value\na,__import__('os').mkdir('pwned')\n=cmd|' /C mkdir pwned'!A0,1"),
    },
    "tuned settings": {"deep brackets": write("t.json", NESTED)},
    "results": {
        "code": forged("regret", pickled()),
        "code in diagnostics": forged("diagnostics", zipped({"a.npy": pickled()})),
        "a header of terabytes": forged("regret", npy((HUGE,), "<f8")),
        "texts without letters": forged("diagnostics", zipped({"a.npy": TEXTS})),
        "gigabytes": forged("diagnostics", zipped({"a.npy": BOTH[0]})),
        "gigabytes, told as a kilobyte": forged("diagnostics", zipped({"a.npy": BOTH[1]})),
        "deep brackets": forged("environment", NESTED.decode()),
        "rows without end": results(change=multiply_rows),
        **COMPUTED,
    },
    "exports": EXPORTS,
    "logs": {
        "code": log(ABOUT, pickled()),
        "code in place of facts": log(pickled(), npy((0,), "<i8")),
        "texts without letters": log(ABOUT, TEXTS),
        "rounds without graphs": log(ABOUT, NUMBERS),
        "a header of terabytes": log(ABOUT, npy((HUGE,), "<i8")),
        "gigabytes": log(*BOTH[:1] * 2),
        "gigabytes, told as a kilobyte": log(*BOTH[1:] * 2),
        "deep brackets": log(npy((DEEP,), "|u1", NESTED), npy((0,), "<i8")),
    },
    "prepared pools": {
        "a part in another folder": prepared(part_outside),
        "a part of many rows": prepared(many_rows),
        "many molecules": prepared(many_molecules),
        "a long text stored once": prepared(long_part),
        "deep brackets": prepared(lambda manifest, folder: manifest.update(moments=deep(900))),
    },
    "backtests": {
        "deep brackets": backtest({SETTINGS: NESTED.decode()}),
        "a start of many digits": backtest(
            {SETTINGS: PLAYED, RESULTS: f"player,batch,start,id\nrandom,1,{'9' * DEEP},a\n"}
        ),
        "a huge start": backtest(
            {SETTINGS: PLAYED, RESULTS: f"player,batch,start,id,probability_of_beating_best\nr,1,{HUGE**9},a,\n"}
        ),
    },
}
