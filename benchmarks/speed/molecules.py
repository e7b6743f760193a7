"""Time descriptors and ratings of molecules, in seconds of one core: python -m benchmarks.speed.molecules."""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

import registry
from agents.molecule import DESCRIPTORS, Descriptors, MoleculeAgent, Rater, Scales, compute_descriptors
from benchmarks.speed.measure import Row, in_a_process_of_its_own, peak_bytes, show

if TYPE_CHECKING:
    from torch_geometric.data import Data

RINGS = ("c1cc({0})ccc1{1}", "c1c({0})cccc1{1}", "c1cc({0})cnc1{1}", "c1nc({0})ncc1{1}", "c1cc({0})sc1{1}")
GROUPS = ("C", "CC", "OC", "F", "C(F)(F)F", "C(=O)N", "CC#N", "N9CCOCC9", "CN(C)C", "C(C)(C)O", "C9CC9", "NC(C)=O")
LINKERS = ("C(=O)N", "NC(=O)", "S(=O)(=O)N", "OCC", "CN(C)", "C=C")
TIMED, OTHERS = 500, 4096
MEGABYTE = 1 << 20
RESULTS = (300, 1000, 2000)
MOST = {300: 240.0, 2000: 720.0}  # us a molecule, by results: 10^6 then take two cores 2 and 6 minutes


@dataclass(frozen=True)
class Pool:
    """Molecules with descriptors, on the scales of a larger pool."""

    smiles: Sequence[str]
    """Their SMILES."""
    descriptors: Descriptors
    """Their descriptors."""
    scales: Scales
    """The scales."""

    def to_pyg(self) -> list[Data]:
        """Return nothing: the agents need no atoms."""
        return []


def drug_like(count: int) -> list[str]:
    """Make canonical SMILES of different molecules of some 25 atoms: two rings with a linker and three groups."""
    from rdkit import Chem

    rng, smiles = np.random.default_rng(0), dict[str, None]()
    while len(smiles) < count:
        outer, inner = rng.choice(RINGS, 2)
        groups, inner = rng.choice(GROUPS, 3), inner.replace("1", "3").replace("{3}", "{1}")
        text = outer.format(groups[0], rng.choice(LINKERS) + inner.format(groups[1], groups[2]))
        smiles[Chem.MolToSmiles(Chem.MolFromSmiles(text))] = None
    return list(smiles)


def time_descriptors(smiles: Sequence[str]) -> list[Row]:
    """Return the rows for reading, writing and all descriptors of molecules, each descriptor by itself too."""
    from rdkit import Chem

    begin = time.process_time()
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    middle = time.process_time()
    for molecule in molecules:
        Chem.MolToSmiles(molecule)
    reading, writing = ((end - start) / len(smiles) for start, end in ((begin, middle), (middle, time.process_time())))
    atoms = np.mean([molecule.GetNumAtoms() for molecule in molecules])
    rows = [Row(f"reading a SMILES of {atoms:.0f} atoms by RDKit", 1e6 * reading, "us")]
    rows += [Row("its canonical form", 1e6 * writing, "us")]
    for name in DESCRIPTORS:
        seconds, size = _measure(smiles, [name])
        rows.append(Row(f"`{name}` of a molecule that is read", 1e6 * (seconds - reading), "us", detail=size))
    seconds, size = _measure(smiles, DESCRIPTORS)
    name = "a molecule: reading, canonical form, and all descriptors"
    return [*rows, Row.at_most(name, 1e6 * (seconds + writing), "us", 1200, size)]


def time_ratings(smiles: Sequence[str], numbers: Sequence[int] = RESULTS) -> list[Row]:
    """Return the rows for rating molecules, in a process of its own, with several numbers of results, and for growth.

    Args:
        smiles: the molecules with results, and then the others, which are rated.
        numbers: how many of the first molecules have results.
    """
    descriptors, rows, times = compute_descriptors(smiles), [], []
    scales, others = Scales.of(descriptors), descriptors.take(range(max(numbers), len(smiles)))
    for count in numbers:
        rater = train(smiles[:count], descriptors.take(range(count)), scales)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "rater").write_bytes(pickle.dumps((rater, others)))
            cost = in_a_process_of_its_own("benchmarks.speed.molecules", folder)
        microseconds, most, peak = 1e6 * cost["seconds"] / len(others), MOST.get(count), cost["peak_bytes"] / MEGABYTE
        name = f"rating a molecule, {count} results"
        times.append(microseconds)
        rows.append(Row(name, microseconds, "us") if most is None else Row.at_most(name, microseconds, "us", most))
        rows.append(Row.at_most(f"peak memory of a process that rates, {count} results", peak, "MB", 500))
    exponent = np.polyfit(np.log(numbers), np.log(times), 1)[0]
    return [*rows, Row("rating a molecule: growth with the number of results, exponent", float(exponent), "")]


def train(smiles: Sequence[str], descriptors: Descriptors, scales: Scales) -> Rater:
    """Return the rater of an agent that has learnt random results of some molecules of a pool."""
    agent = registry.make_agent("molecule-ucb")
    if not isinstance(agent, MoleculeAgent):
        raise TypeError(f"Expected an agent for molecules. Got {type(agent).__name__}.")
    agent.reset(None, graph_set=Pool(smiles, descriptors, scales))
    agent.update(None, range(len(smiles)), np.random.default_rng(0).normal(size=len(smiles)))
    return agent.rater()


def rows(timed: int = TIMED, others: int = OTHERS) -> list[Row]:
    """Return all rows, in seconds that one core has worked."""
    smiles = drug_like(max(RESULTS) + others)
    return [*time_descriptors(smiles[:timed]), *time_ratings(smiles)]


def _measure(smiles: Sequence[str], names: Sequence[str]) -> tuple[float, str]:
    """Return the seconds that descriptors of a molecule take, and a text with their bytes."""
    compute_descriptors(smiles[:10], names)
    begin = time.process_time()
    descriptors = compute_descriptors(smiles, names)
    seconds = (time.process_time() - begin) / len(smiles)
    return seconds, f"{sum(array.nbytes for array in descriptors.arrays().values()) / len(smiles):.0f} bytes in memory"


def _rate(folder: str) -> dict[str, float]:
    rater, others = pickle.loads((Path(folder) / "rater").read_bytes())  # noqa: S301 - written by this program
    rater(others.take(range(10)))
    begin = time.process_time()
    rater(others)
    return {"seconds": time.process_time() - begin, "peak_bytes": peak_bytes()}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(_rate(sys.argv[1])))
    else:
        torch.set_num_threads(1)
        show(rows())
