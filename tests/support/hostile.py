"""Make files that try to run code, to reach into other folders, or to take gigabytes."""

import bz2
import io
import json
import lzma
import os
import struct
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from pyarrow import parquet

from graph_bandit_campaign.backtest.run import SETTINGS
from graph_bandit_campaign.file import FORMAT
from graph_bandit_campaign.pool.prepared.manifest import MANIFEST
from graph_bandit_lab.storage import FILE_NAME
from support.bombs import BOMBS
from support.stored import execute

HUGE = 10**12
DEEP = 100_000
SECRET = "CCCCCCCCCCSI"  # stands in a file outside the folder that was sent


class Harm:
    """Makes a file called `pwned` when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder / "pwned"),)


def npy(header_shape, dtype, content=b""):
    """An array whose header promises another shape than its content has."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {header_shape}}}"
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + content


def pickled():
    """An array of objects, which NumPy reads by pickle alone."""
    file = io.BytesIO()
    np.save(file, np.array([Harm(Path())], object), allow_pickle=True)
    return file.getvalue()


def archive(path, members, compression=zipfile.ZIP_DEFLATED):
    """A zip archive; a `Zeros` is a file that unpacks to gigabytes."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            if isinstance(content, Zeros):
                info = zipfile.ZipInfo(name)
                file.writestr(info, content.packed)
                info.compress_type, info.file_size = zipfile.ZIP_BZIP2, content.told
            else:
                file.writestr(name, content)
    return path


class Zeros:
    """Two gigabytes of zeros in two kilobytes of bzip2, of which the archive tells a kilobyte."""

    def __init__(self):
        bits = bin(int.from_bytes(bz2.compress(bytes(45_000_000)), "big"))[2:].zfill(8)
        bits = bits.zfill(-(-len(bits) // 8) * 8)
        block = bits[32 : bits.index(f"{0x177245385090:048b}")]
        whole = bits[:32] + block * 48
        length = -(-len(whole) // 8)
        self.told, self.packed = 1000, int(whole.ljust(8 * length, "0"), 2).to_bytes(length, "big")


def write(name, content):
    def make(folder):
        path = folder / name
        path.write_bytes(content(folder) if callable(content) else content)
        return path

    return make


def embeddings(ids, values):
    return lambda folder: archive(folder / "e.npz", {"ids.npy": ids, "values.npy": values})


def log(about, array):
    """A log in which what it says of itself, and each of its arrays, is this."""
    members = dict.fromkeys(("actions.npy", "rewards.npy", "probabilities.npy", "masks.npy"), array)
    return lambda folder: archive(folder / "log.npz", {"about.npy": about, **members})


def results(*statements):
    """A results file in the right format, changed by statements of SQL."""

    def make(folder):
        from graph_bandit_lab import BanditResult
        from graph_bandit_lab.design import RunKey
        from graph_bandit_lab.storage import ResultStore

        key = RunKey("random", {}, {"num_graphs": 3, "graph_model": "er", "horizon": 2})
        result = BanditResult(np.array([2, 0]), np.array([0.1, -0.2]), np.array([0.0, 1.5]), seconds=0.75)
        ResultStore(folder).add(key, 5, "random", result, 1.25)
        execute(folder / FILE_NAME, *statements)
        return folder / FILE_NAME

    return make


def forged(column, value):
    """A results file with another value in a column."""
    return results((f"UPDATE repetitions SET {column} = ?", (value,)))


def packed(make_results):
    """An export of a results file."""

    def make(folder):
        (folder / "e.xz").write_bytes(lzma.compress(make_results(folder).read_bytes()))
        return folder / "e.xz"

    return make


def zeros_of_xz(folder):
    """The beginning of a file of xz that unpacks to gigabytes: the packed first two megabytes, again and again."""
    content = lzma.compress(bytes(1 << 21), check=lzma.CHECK_NONE)
    begin = 12 + 4 * (content[12] + 1)  # after the headers of the file and of its block
    length = 6 + int.from_bytes(content[begin + 3 : begin + 5], "big") + 1
    (folder / "e.xz").write_bytes(content[:begin] + 400 * content[begin : begin + length])
    return folder / "e.xz"


def zipped(members):
    file = io.BytesIO()
    archive(file, members)
    return file.getvalue()


def prepared(change):
    """A folder of a prepared pool with one part of three molecules, and a manifest that is changed by a function."""

    def make(folder):
        from graph_bandit_campaign.pool.prepared import PrepareSettings, prepare

        (folder / "pool.csv").write_text("smiles\nC\nCC\nCCC\n")
        prepare(PrepareSettings(folder / "pool.csv", folder / "pool", workers=None))
        path = folder / "pool" / MANIFEST
        manifest = json.loads(path.read_text())
        change(manifest, folder / "pool")
        path.write_text(json.dumps(manifest))
        return folder / "pool"

    return make


def many_rows(manifest, folder):
    manifest["molecules"] = HUGE


def long_part(manifest, folder):
    """A part of few bytes that decodes to gigabytes, with its right size and digest."""
    content = repeated_text(700, 1 << 20, ("smiles", "id", "written"))
    (folder / "part-00000.parquet").write_bytes(content)
    manifest["parts"][0] = sha256(content).hexdigest()


def repeated_text(rows, length, names=("smiles",)):
    """A Parquet file with one long text in all of its rows, which is stored once."""
    file, text = io.BytesIO(), pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), ["C" * length])
    parquet.write_table(pa.table(dict.fromkeys(names, text)), file, compression="zstd", store_schema=False)
    return file.getvalue()


def outside(folder):
    """A sweep whose graphs lie in another folder."""
    (folder / "private.csv").write_text(f"smiles,y\n{SECRET}\nC,1\n")
    (folder / "sent").mkdir()
    path = folder / "sent" / "sweep.toml"
    path.write_text('agents = ["random"]\n[[grid]]\nenvironment = {graphs = "../private.csv", target = "y"}\n')
    return path


AMIDE = "[#6:1]C(=O)[OH].[NH2:2][#6:3]>>[#6:1]C(=O)[N:2][#6:3]"


def library(smarts=AMIDE, blocks="blocks.csv", rows=("CC(=O)O", "CN")):
    """A library of products; its blocks lie in its folder, unless a name says otherwise."""

    def make(folder):
        (folder / "private.csv").write_text(f"id,smiles\n1,{SECRET}\n2,NCCC(=O)O\n")
        (folder / "sent").mkdir()
        lines = ["id,smiles", *(f"{k},{row}" for k, row in enumerate(rows))]
        (folder / "sent" / "blocks.csv").write_text("\n".join(lines))
        slots = ", ".join(f'{{name = "{name}", blocks = "{blocks}"}}' for name in ("a", "b"))
        path = folder / "sent" / "library.toml"
        path.write_text(f'[[reactions]]\nname = "r"\nsmarts = "{smarts}"\nslots = [{slots}]\n')
        return path

    return make


def torch_file(folder):
    torch.save([Harm(folder)], folder / "g.pt")
    return folder / "g.pt"


def expanded(folder):
    from torch_geometric.data import Data

    graph = Data(x=torch.zeros(1, 1).expand(10**9, 1), edge_index=torch.zeros(2, 0, dtype=torch.long))
    torch.save([graph], folder / "g.pt")
    return folder / "g.pt"


def sweep(text):
    return write("sweep.toml", f"{text}\n".encode())


def campaign(**changes):
    fields = {
        "format": FORMAT,
        "agent": "random",
        "maximize": True,
        "seed": 0,
        "measured": [],
        "failed": [],
        "pending": [],
    }
    return write("c.campaign.json", json.dumps(fields | {"rounds": []} | changes).encode())


def backtest(files):
    def make(folder):
        for name, text in files.items():
            (folder / name).write_text(text)
        return folder

    return make


def bomb(name):
    return write(name.partition(":")[0].replace("sheet", "t"), BOMBS[name]())


NESTED = b"[" * DEEP
ZEROS = Zeros()
ABOUT = npy((2,), "|u1", b"{}")
VIEW = results(
    "ALTER TABLE repetitions RENAME TO kept",
    "CREATE VIEW repetitions AS WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) "
    "SELECT kept.* FROM n, kept",
)

HOSTILE = {
    "tables": {
        **{name: lambda folder, name=name: bomb(name)(folder) for name in BOMBS},
        "a long text stored once": write("t.parquet", lambda folder: repeated_text(10**5, 1 << 20)),
    },
    "graphs": {
        "code": torch_file,
        "one number as a billion": expanded,
        "gigabytes": lambda folder: archive(folder / "g.pt", {"g/data.pkl": ZEROS}),
        "deep brackets": write("g.jsonl", NESTED),
    },
    "embeddings": {
        "code": embeddings(pickled(), pickled()),
        "a header of terabytes": embeddings(npy((1,), "<U1", "a".encode("utf-32-le")), npy((HUGE,), "<f8")),
        "gigabytes": embeddings(ZEROS, ZEROS),
    },
    "substructures": {"deep brackets": write("s.smarts", b"[$(" * 20_000)},
    "campaigns": {
        "a function": campaign(agent="os:mkdir:path=pwned"),
        "deep brackets": write("c.campaign.json", NESTED),
        "an agent of a huge width": campaign(agent=f"gnn-ts:width={HUGE}"),
    },
    "sweeps": {
        "a function": sweep('agents = ["os:mkdir:path=pwned"]'),
        "graphs in another folder": outside,
        "deep brackets": sweep("agents = " + "[" * DEEP),
        "many repetitions": sweep(f'agents = ["random"]\nrepetitions = {HUGE}'),
        "many graphs": sweep(f'agents = ["random"]\n[[grid]]\nenvironment = {{num_graphs = {HUGE}}}'),
    },
    "where tables are": {"deep brackets": sweep("a = " + "[" * DEEP)},
    "product libraries": {
        "blocks in another folder": library(blocks="../private.csv"),
        "a reaction of megabytes": library(smarts="C" * 10**7),
        "blocks that react in endless ways": library(rows=(f"OC(=O){'C(C(=O)O)' * 60}C", f"NC{'C(N)' * 60}C")),
    },
    "values of a program": {"a million columns": write("v.csv", b"," * 1_000_000 + b"id,value\n")},
    "tuned settings": {"deep brackets": write("t.json", NESTED)},
    "results": {
        "code": forged("regret", pickled()),
        "a header of terabytes": forged("regret", npy((HUGE,), "<f8")),
        "gigabytes": forged("diagnostics", zipped({"a.npy": ZEROS})),
        "a table that is computed": VIEW,
    },
    "exports": {
        "code": packed(forged("regret", pickled())),
        "gigabytes": zeros_of_xz,
        "a table that is computed": packed(VIEW),
    },
    "logs": {"code": log(ABOUT, pickled()), "gigabytes": log(ZEROS, ZEROS)},
    "prepared pools": {
        "a count of many molecules": prepared(many_rows),
        "a long text stored once": prepared(long_part),
    },
    "backtests": {"deep brackets": backtest({SETTINGS: NESTED.decode()})},
}
