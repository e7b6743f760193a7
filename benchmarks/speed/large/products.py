"""Time a round on 10^6 to 2 x 10^10 products, and 10^9 combinations of two slots of molecules and three of numbers.

python -m benchmarks.speed.large.products --data FOLDER
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import tyro
from rdkit.Chem import MolFromSmiles, MolToSmiles
from rdkit.Chem.rdMolDescriptors import CalcCrippenDescriptors

from benchmarks.speed.large.process import measure
from graph_bandit_env.pools import Slot, from_smiles
from graph_bandit_env.pools.products import Part, ProductLibrary, Reaction
from graph_bandit_lab.reports import print_columns

QUINAZOLINE = Reaction("quinazoline", "N[c:4][c:3]C(O)=O.[#6:1][NH2].[#6:2]C(=O)[OH]>>[C:2]c1n[c:4][c:3]c(=O)n1[C:1]")
BLOCKS = ("aminobenzoic_ok", "primary_amines_ok", "carboxylic_acids_ok")
NUMBERS = {"temp_c": 50, "hours": 50, "conc": 40}
"""How many numbers the last slots of combinations have."""
SIZES: dict[str, tuple[int | None, ...]] = {
    "10^6": (100, 100, 100),
    "10^8": (376, 500, 532),
    "2 x 10^10": (None, None, None),
    "10^9 combinations": (100, 100),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Suggest products of some libraries, each in a process of its own, and measure time and memory."""

    data: Path
    """Folder of the tables of blocks."""
    measured: int = 1000
    """How many products, drawn at random, have results: their logP; of combinations the sum of their places."""
    n: int = 100
    """How many products to suggest."""


def make_library(data: Path, sizes: tuple[int | None, ...]) -> ProductLibrary:
    """Return a library of blocks drawn at random from files, of those that can react at one place alone.

    Args:
        data: folder of the files.
        sizes: how many blocks of each slot are drawn; None: all. Two sizes make combinations, not products.
    """
    slots = list[Slot]()
    for name, size in zip(BLOCKS, sizes, strict=False):
        table = pd.read_csv(data / f"{name}.smi", sep=" ", names=["smiles", "id"])
        table = table.drop_duplicates("smiles").drop_duplicates("id")
        blocks = list(map(MolFromSmiles, table["smiles"]))
        good = [k for k, block in enumerate(blocks) if QUINAZOLINE.count_sites(len(slots), block) == 1]
        if size is not None:
            good = [good[k] for k in np.sort(np.random.default_rng(0).permutation(len(good))[:size])]
        ids, smiles = table["id"].iloc[good].map(str).tolist(), [MolToSmiles(blocks[k]) for k in good]
        slots.append(Slot(f"{name}{len(slots)}", "structure", tuple(ids), from_smiles(smiles, ids=ids)))
    if len(sizes) == len(BLOCKS):
        return ProductLibrary([Part(reaction=QUINAZOLINE, slots=tuple(slots))])
    slots += [Slot(name, "number", tuple(map(float, range(count)))) for name, count in NUMBERS.items()]
    return ProductLibrary([Part(slots=tuple(slots))])


def write_tables(library: ProductLibrary, count: int, folder: Path) -> tuple[Path, Path]:
    """Write a library, and the values of some of its products, drawn at random."""
    part, entries = library.parts[0], []
    for slot in part.slots:
        if slot.kind == "number":
            entries.append(f'{{name = "{slot.name}", choices = {list(slot.choices)}}}')
            continue
        pd.DataFrame({"smiles": slot.spelt, "id": slot.names}).to_csv(folder / f"{slot.name}.csv", index=False)
        entries.append(f'{{name = "{slot.name}", blocks = "{slot.name}.csv"}}')
    lines = [f'[[reactions]]\nname = "{part.name}"\nsmarts = "{part.reaction.smarts}"'] if part.reaction else []
    (folder / "library.toml").write_text("\n".join([*lines, f"slots = [{', '.join(entries)}]"]) + "\n")
    numbers = library.draw(count, np.random.default_rng(0))
    rows = [
        (library.id_of(number), CalcCrippenDescriptors(MolFromSmiles(product.smiles))[0])
        for number, product in zip(numbers.tolist(), library.make(numbers), strict=True)
        if product.smiles
    ] or [*zip(map(library.id_of, numbers.tolist()), library.blocks_of(numbers).sum(axis=1), strict=True)]
    pd.DataFrame(rows, columns=["id", "logp"]).to_csv(folder / "results.csv", index=False)
    return folder / "library.toml", folder / "results.csv"


def main(args: list[str] | None = None) -> None:
    """Print a row for each library."""
    settings = tyro.cli(Settings, args=args, prog="python -m benchmarks.speed.large.products")
    rows: list[tuple[str, ...]] = [("products", "s", "CPU s", "peak GB")]
    for name, sizes in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            pool, results = write_tables(make_library(settings.data, sizes), settings.measured, Path(folder))
            arguments = ["suggest", str(pool), "--measured", str(results), "--maximize", "logp", "--n", str(settings.n)]
            out = Path(folder) / "next.csv"
            cost = measure("-W", "ignore", "-m", "graph_bandit_cli", *arguments, "--out", str(out))
        rows.append((name, f"{cost.seconds:.0f}", f"{cost.cpu:.0f}", f"{cost.memory / 1e9:.2f}"))
    print(f"\nA round of `graph-bandit suggest` with {settings.measured:,} results, {settings.n} suggestions\n")
    print_columns(rows, markdown=True)


if __name__ == "__main__":
    main()
