"""Time and memory of a round on 10^6, 10^8 and 2 x 10^10 products, and what the short list holds of the best."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rdkit.Chem import MolFromSmiles
from rdkit.Chem.rdMolDescriptors import CalcCrippenDescriptors

from agents.products import BlockKernel, ProductProcess
from benchmarks.pools.streamed.process import measure
from benchmarks.products.objectives import ACIDS, AMINES, AMINOBENZOIC, QUINAZOLINE, make_library
from graph_bandit_campaign.model import DEVIATIONS, BlockBeliefs, ProductLists
from graph_bandit_env.pools.products import ProductLibrary
from graph_bandit_lab.reports import print_columns

SIZES: dict[str, tuple[int | None, int | None, int | None]] = {
    "10^6": (100, 100, 100),
    "10^8": (376, 500, 532),
    "2 x 10^10": (None, None, None),
}
LISTED = 1000  # of the best by the model, that are looked for in the short list


@dataclass(frozen=True, kw_only=True)
class GrowthStudy:
    """Suggest products of three libraries, each in a process of its own, and measure time and memory."""

    data: Path
    """Folder of the tables of blocks."""
    measured: int = 1000
    """How many products, drawn at random, have results: their logP."""
    n: int = 100
    """How many products to suggest."""

    def run(self) -> bool:
        """Print a row for each library."""
        rows: list[tuple[str, ...]] = [("products", "s", "CPU s", "peak GB")]
        for name, sizes in SIZES.items():
            library = _quinazolines(self.data, sizes)
            with tempfile.TemporaryDirectory() as folder:
                pool, results = _write(library, self.measured, Path(folder))
                out = Path(folder) / "next.csv"
                arguments = ["suggest", str(pool), "--measured", str(results), "--maximize", "logp", "--n", str(self.n)]
                cost = measure("-W", "ignore", "-m", "graph_bandit_cli", *arguments, "--out", str(out))
            rows.append((name, f"{cost.seconds:.0f}", f"{cost.cpu:.0f}", f"{cost.memory / 1e9:.2f}"))
        print(f"\nA round of `graph-bandit suggest` with {self.measured:,} results, {self.n} suggestions\n")
        print_columns(rows, markdown=True)
        return True


@dataclass(frozen=True, kw_only=True)
class ShortListStudy:
    """Rate all of 10^6 products by the model, and count how many of the best 1,000 the first short list holds."""

    data: Path
    """Folder of the tables of blocks."""
    measured: tuple[int, ...] = (300, 1000, 3000)
    """How many products, drawn at random, have results: their logP."""
    starts: int = 3
    """Draws of each."""

    def run(self) -> bool:
        """Print a row for each number of results."""
        library = _quinazolines(self.data, SIZES["10^6"])
        kernels = [BlockKernel.of_smiles(slot.smiles) for slot in library.parts[0].slots]
        every = library.blocks_of(np.arange(len(library)))
        rows: list[tuple[str, ...]] = [("results", "by the mean", "by mean and deviation")]
        for count in self.measured:
            shares = np.zeros((self.starts, 2))
            for start in range(self.starts):
                measured, values = _results(library, count, start)
                beliefs = BlockBeliefs(library, [kernels], measured.tolist(), values.tolist())
                listed = next(ProductLists(beliefs, start).after(measured.tolist()))
                means, deviations = ProductProcess(kernels, every[measured], values).predict(every)
                for column, bounds in enumerate((means, means + DEVIATIONS * deviations)):
                    bounds[measured] = -np.inf
                    best = np.argpartition(bounds, -LISTED)[-LISTED:]
                    shares[start, column] = np.isin(best, listed).mean()
            rows.append((str(count), *(", ".join(f"{share:.3f}" for share in each) for each in shares.T)))
        print(f"\nShare of the best {LISTED:,} of 10^6 products by the model that the first short list holds\n")
        print_columns(rows, markdown=True)
        return True


def _quinazolines(data: Path, sizes: tuple[int | None, ...]) -> ProductLibrary:
    paths = (data / f"{name}.smi" for name in (AMINOBENZOIC, AMINES, ACIDS))
    return make_library("quinazoline", QUINAZOLINE, [*zip(paths, sizes, strict=True)])


def _results(library: ProductLibrary, count: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return numbers of products, drawn at random, `(n,)`, and their logP, `(n,)`."""
    numbers = library.draw(count, np.random.default_rng(seed))
    made = library.make(numbers)
    good = np.array([bool(product.smiles) for product in made])
    values = [CalcCrippenDescriptors(MolFromSmiles(product.smiles))[0] for product in made if product.smiles]
    return numbers[good], np.array(values)


def _write(library: ProductLibrary, count: int, folder: Path) -> tuple[Path, Path]:
    """Write a library and results of some products."""
    part, entries = library.parts[0], []
    for slot in part.slots:
        table = pd.DataFrame({"smiles": slot.smiles, "id": slot.ids})
        table.to_csv(folder / f"{slot.name}.csv", index=False)
        entries.append(f'{{name = "{slot.name}", blocks = "{slot.name}.csv"}}')
    lines = ["[[reactions]]", f'name = "{part.reaction.name}"', f'smarts = "{part.reaction.smarts}"']
    (folder / "library.toml").write_text("\n".join([*lines, f"slots = [{', '.join(entries)}]"]) + "\n")
    numbers, values = _results(library, count, 0)
    rows = {"id": [*map(library.id_of, numbers.tolist())], "logp": values}
    pd.DataFrame(rows).to_csv(folder / "results.csv", index=False)
    return folder / "library.toml", folder / "results.csv"
