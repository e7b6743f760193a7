"""Files that try to run code, to reach into other folders, or to take gigabytes; how a file of each kind is read."""

import gzip
import io
import json
import lzma
import os
import struct
import sys
import zipfile

import numpy as np
import openpyxl
import psutil
import pyarrow as pa
import torch
from pyarrow import parquet
from torch_geometric.data import Data

from graph_bandit_campaign import Campaign
from graph_bandit_campaign.constraints.limits.requirements import Pattern
from graph_bandit_campaign.pool.library_file import read_product_library
from graph_bandit_campaign.pool.prepared.making.run import prepare
from graph_bandit_campaign.pool.prepared.manifest import MANIFEST
from graph_bandit_campaign.pool.prepared.pool import PreparedPool
from graph_bandit_campaign.pool.prepared.settings import PrepareSettings
from graph_bandit_campaign.screening.program import read_values
from graph_bandit_campaign.store import FORMAT
from graph_bandit_env import from_smiles, from_smiles_csv
from graph_bandit_env.files import read_embeddings, read_pool
from graph_bandit_lab import BanditResult, load_results
from graph_bandit_lab.design import RunKey, read_sweep
from graph_bandit_lab.design.grids import read_tuned
from graph_bandit_lab.design.sweep_file import read_tables
from graph_bandit_lab.logged import Log
from graph_bandit_lab.storage import FILE_NAME, ResultStore, import_results
from support.stored import execute

HUGE = 10**12
NESTED = b"[" * 100_000
SECRET = "CCCCCCCCCCSI"  # stands in a file outside the folder that was sent
SHEET = "xl/worksheets/sheet1.xml"
OPEN = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
FAR = b'<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c></row><row r="1000000000"><c><v>1</v></c></row>'
END = b"</sheetData></worksheet>"
ENDLESS = "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT kept.* FROM n, kept"


class Harm:
    """Makes a folder called `pwned` when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder / "pwned"),)


def pickled(folder):
    """An array of objects, which NumPy reads by pickle alone."""
    file = io.BytesIO()
    np.save(file, np.array([Harm(folder)], object), allow_pickle=True)
    return file.getvalue()


def npy(shape, dtype, content=b""):
    """An array whose header promises another shape than its content has."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + content


def archive(path, members):
    """A zip archive; a tuple is the begin of a file, a part of it, and how often that is repeated."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, content in members.items():
            begin, part, times = content if isinstance(content, tuple) else (content, b"", 0)
            with file.open(name, "w", force_zip64=True) as member:
                member.write(begin)
                for _ in range(times):
                    member.write(part)
    return path


def write(name, content):
    def make(folder):
        (folder / name).write_bytes(content.replace(b"FOLDER", str(folder).encode()))
        return folder / name

    return make


def workbook(*sheet):
    def make(folder):
        openpyxl.Workbook().save(folder / "plain.xlsx")
        with zipfile.ZipFile(folder / "plain.xlsx") as file:
            parts = {name: file.read(name) for name in file.namelist()}
        return archive(folder / "t.xlsx", parts | {SHEET: sheet})

    return make


def repeated_text(folder):
    """A Parquet file with one long text in all of its rows, which is stored once."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10**5, np.int32)), ["C" * (1 << 20)])
    parquet.write_table(pa.table({"smiles": text}), folder / "t.parquet", compression="zstd", store_schema=False)
    return folder / "t.parquet"


def torch_file(make_graph, **form):
    def make(folder):
        torch.save([make_graph(folder)], folder / "g.pt", **form)
        return folder / "g.pt"

    return make


def one_number_as_a_billion(folder):
    return Data(x=torch.zeros(1, 1).expand(10**9, 1), edge_index=torch.zeros(2, 0, dtype=torch.long))


def results(change):
    """A results file in the right format, changed by statements of SQL, which are made for its folder."""

    def make(folder):
        key = RunKey("random", {}, {"num_graphs": 3, "graph_model": "er", "horizon": 2})
        result = BanditResult(np.array([2, 0]), np.array([0.1, -0.2]), np.array([0.0, 1.5]), seconds=0.75)
        ResultStore(folder).add(key, 5, "random", result, 1.25)
        execute(folder / FILE_NAME, *change(folder))
        return folder / FILE_NAME

    return make


def prepared(folder):
    """A pool of three molecules in one part, of which its manifest says that there are many."""
    (folder / "pool.csv").write_text("smiles\nC\nCC\nCCC\n")
    path = prepare(PrepareSettings(folder / "pool.csv", folder / "pool", workers=None)).folder / MANIFEST
    manifest = json.loads(path.read_text())
    manifest["molecules"] = HUGE
    path.write_text(json.dumps(manifest))
    return path.parent


def beside(make):
    """A file in a folder next to a table that is not in it."""

    def both(folder):
        (folder / "private.csv").write_text(f"id,smiles,y\n1,{SECRET},1\n2,NCCC(=O)O,1\n")
        (folder / "sent").mkdir()
        return make(folder / "sent")

    return both


def library(blocks="blocks.csv", rows=("CC(=O)O", "CN")):
    """A library of products; its blocks lie in its folder, unless a name says otherwise."""
    smarts = "[#6:1]C(=O)[OH].[NH2:2][#6:3]>>[#6:1]C(=O)[N:2][#6:3]"
    slots = ", ".join(f'{{name = "{name}", blocks = "{blocks}"}}' for name in "ab")

    def make(folder):
        (folder / "blocks.csv").write_text("\n".join(["id,smiles", *(f"{k},{row}" for k, row in enumerate(rows))]))
        return write("l.toml", f'[[reactions]]\nname = "r"\nsmarts = "{smarts}"\nslots = [{slots}]\n'.encode())(folder)

    return make


def campaign(agent):
    fields = {"format": FORMAT, "agent": agent, "maximize": True, "seed": 0}
    nothing = {name: [] for name in ("measured", "failures", "pending", "rounds")}
    return write("c.campaign.json", json.dumps(fields | nothing).encode())


def sweep(more="", agent="random", graphs="num_graphs = 3"):
    return write("s.toml", f"agents = ['{agent}']\n{more}\n[[grid]]\nenvironment = {{{graphs}}}\n".encode())


CODE = "os:mkdir:path=FOLDER/pwned"
HOSTILE = {
    "tables": {
        "a line without end": write("t.csv.gz", gzip.compress(b"smiles\n") + gzip.compress(b"C," * (1 << 23)) * 64),
        "a sheet of gigabytes": workbook(OPEN, b"<row><c/></row>" * (1 << 20), 16),
        "a sheet with a far row": workbook(OPEN + FAR + END, b"", 0),
        "a long text stored once": repeated_text,
    },
    "graphs": {
        "code": torch_file(Harm),
        "code in an old file": torch_file(Harm, _use_new_zipfile_serialization=False),
        "one number as a billion": torch_file(one_number_as_a_billion),
    },
    "embeddings": {
        "code": lambda folder: archive(folder / "e.npz", dict.fromkeys(("ids.npy", "values.npy"), pickled(folder))),
        "a header of terabytes": lambda folder: archive(
            folder / "e.npz", {"ids.npy": npy((1,), "<U1", b"a\0\0\0"), "values.npy": npy((HUGE,), "<f8")}
        ),
        "gigabytes": lambda folder: archive(
            folder / "e.npz", {"values.npy": (npy((1 << 31,), "|S1"), bytes(1 << 24), 80)}
        ),
    },
    "substructures": {"deep brackets": write("s.smarts", b"[$(" * 20_000)},
    "campaigns": {"code": campaign(CODE), "an agent of a huge width": campaign(f"gnn-ts:width={HUGE}")},
    "sweeps": {
        "code": sweep(agent=CODE),
        "graphs in another folder": beside(sweep(graphs='graphs = "../private.csv", target = "y"')),
        "many repetitions": sweep(f"repetitions = {HUGE}"),
    },
    "where tables are": {"deep brackets": write("t.toml", b"a = " + NESTED)},
    "product libraries": {
        "blocks in another folder": beside(library("../private.csv")),
        "blocks that react in endless ways": library(rows=(f"OC(=O){'C(C(=O)O)' * 60}C", f"NC{'C(N)' * 60}C")),
    },
    "values of a program": {"a million columns": write("v.csv", b"," * 1_000_000 + b"id,value\n")},
    "tuned settings": {"deep brackets": write("t.json", NESTED)},
    "results": {
        "code": results(lambda folder: [("UPDATE repetitions SET regret = ?", (pickled(folder),))]),
        "a table that is computed": results(
            lambda folder: ["ALTER TABLE repetitions RENAME TO kept", f"CREATE VIEW repetitions AS {ENDLESS}"]
        ),
    },
    "exports": {"gigabytes": lambda folder: write("e.xz", lzma.compress(bytes(1 << 29), preset=0))(folder)},
    "logs": {
        "code": lambda folder: archive(
            folder / "log.npz",
            {"about.npy": npy((2,), "|u1", b"{}")}
            | dict.fromkeys(("actions.npy", "rewards.npy", "probabilities.npy", "masks.npy"), pickled(folder)),
        )
    },
    "prepared pools": {"a part of many rows": prepared},
}


def read_blocks(path):
    pool = PreparedPool.open(path)
    return len(pool), [block.smiles for block in pool.blocks(())]


def read_products(path):
    library, remarks = read_product_library(path)
    return remarks, library.make(range(min(len(library), 100)))


READERS = {
    "tables": lambda path: from_smiles_csv(path).smiles,
    "graphs": lambda path: len(read_pool(path)),
    "embeddings": read_embeddings,
    "substructures": lambda path: Pattern.parse(str(path)).smarts,
    "campaigns": lambda path: Campaign(from_smiles(["CCO", "CCN", "CCC"]), state=path).ids,
    "sweeps": lambda path: len(read_sweep(path).plan().repetitions),
    "where tables are": read_tables,
    "product libraries": read_products,
    "values of a program": lambda path: read_values(path, {"a", "b"}),
    "tuned settings": lambda path: read_tuned(path, "steps").settings,
    "results": lambda path: load_results(path.parent)["label"].tolist(),
    "exports": lambda path: import_results(path.parent / "taken", [path]),
    "logs": lambda path: Log.load(path).num_rounds,
    "prepared pools": read_blocks,
}


def read(kind, path):
    """Return the beginning of what a file holds, or of the words in which it is refused."""
    try:
        return f"read: {READERS[kind](path)}"[:2000]
    except ValueError as error:
        return f"refused: {error}"[:2000]


def limit_memory():
    """Let this process take one more gigabyte; only Linux keeps to it."""
    pa.array([""])  # whose allocator reserves a gigabyte of addresses when it is first used
    if sys.platform == "linux":
        import resource

        most = psutil.Process().memory_info().vms + (1 << 30)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
