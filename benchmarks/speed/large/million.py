"""Enumerate a million molecules with computed properties: python -m benchmarks.speed.large.million --out FILE.

Scaffolds with two positions, a linker and an end at each, in an order that is drawn at random. The same command writes
the same file.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import tyro
from rdkit import Chem
from rdkit.Chem.rdMolDescriptors import CalcCrippenDescriptors, CalcTPSA
from tqdm import tqdm

from graph_bandit_env.storage import replace_file

SCAFFOLDS = (  # each has two positions; what is bonded there begins with the atom that has the bond
    *("c1cc({0})ccc1{1}", "c1c({0})cccc1{1}", "c1cc({0})cnc1{1}", "c1nc({0})ncc1{1}", "c1cc({0})sc1{1}"),
    *("c1cc({0})oc1{1}", "c1c({0})[nH]nc1{1}", "c1c({0})noc1{1}", "c1cc2cc({0})ccc2nc1{1}", "c1ncc({0})nc1{1}"),
    *("c1cc2c(cc1{0})[nH]c({1})n2", "c1cc2c(cc1{0})cc({1})[nH]2", "c1cc2c(cc1{0})oc({1})c2", "c1nc({0})sc1{1}"),
    *("O=C(Nc1ccc({0})cc1)c1ccc({1})cc1", "O=S(=O)(Nc1ccc({0})cc1)c1ccc({1})cc1", "C1CCC({0})CC1{1}"),
    *("c1cc({0})ccc1Oc1ccc({1})cc1", "C1CN({0})CCN1c1ccc({1})cc1", "c1cn2cc({0})nc2cc1{1}", "C1CC({0})CN1{1}"),
    *("c1nn({0})cc1{1}", "c1nc2cc({0})ccc2c(=O)n1{1}", "O=C1CC({0})CN1{1}", "c1cnc2c(c1{0})ccn2{1}"),
    *("C1OCC({0})CC1{1}", "c1c({0})nnc(c1){1}", "O=c1cc({0})ccn1{1}", "c1cc2nc({0})sc2cc1{1}", "C1CC2({0})CC1C2{1}"),
)
LINKERS = (  # their ends take the place of {}
    *("C{}", "CC{}", "C(C){}", "CO{}", "CCO{}", "CN{}", "C(=O)N{}", "CC(=O)N{}", "CCN(C){}", "CS{}"),
    *("C(=O)N8CCC({})CC8", "CN8CCN({})CC8", "CNC(=O){}", "C(F)(F){}", "CCC{}", "C8CC8{}"),
)
ENDS = (  # their rings are numbered 9
    *("C", "CC", "C(C)C", "C9CC9", "C9CCC9", "C9CCCC9", "C9CCCCC9", "CC(F)(F)F", "CCO", "CCOC", "CC#N"),
    *("Cc9ccccc9", "Cc9ccc(F)cc9", "Cc9ccc(Cl)cc9", "Cc9cccnc9", "c9ccccc9", "c9ccncc9", "c9ccc(OC)cc9", "C9CCOCC9"),
)
AT_A_TIME = 2000  # molecules that a process makes at a time


@dataclass(frozen=True, kw_only=True)
class MillionSettings:
    """Enumerate different molecules."""

    out: Path
    """File to write, a .csv.gz with the columns id, smiles, logp (Crippen) and tpsa."""
    molecules: int = 1_000_000
    """How many."""
    workers: int = 2
    """Processes."""


def count() -> int:
    """Return how many combinations there are, some of which are the same molecule."""
    return len(SCAFFOLDS) * (len(LINKERS) * len(ENDS)) ** 2


def make(numbers: list[int]) -> list[tuple[str, tuple[float, float]]]:
    """Return canonical SMILES, Crippen logP and polar surface of the combinations with these numbers."""
    groups = [linker.format(end) for linker, end in product(LINKERS, ENDS)]
    made = []
    for number in numbers:
        scaffold, first, second = np.unravel_index(number, (len(SCAFFOLDS), len(groups), len(groups)))
        molecule = Chem.MolFromSmiles(SCAFFOLDS[scaffold].format(groups[first], groups[second]))
        logp, tpsa = CalcCrippenDescriptors(molecule)[0], CalcTPSA(molecule)
        made.append((Chem.MolToSmiles(molecule), (float(logp), float(tpsa))))
    return made


def enumerate_molecules(settings: MillionSettings) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield canonical SMILES, Crippen logP and polar surface of different molecules, as many as are asked for.

    Raises:
        ValueError: if there are not so many.
    """
    order = np.random.default_rng(0).permutation(count())
    parts = [order[start : start + AT_A_TIME].tolist() for start in range(0, len(order), AT_A_TIME)]
    digests, left = set[bytes](), settings.molecules
    with ProcessPoolExecutor(settings.workers, mp_context=get_context("spawn")) as pool:
        for start in range(0, len(parts), 4 * settings.workers):
            for made in pool.map(make, parts[start : start + 4 * settings.workers]):
                for smiles, values in made:
                    digest = hashlib.blake2b(smiles.encode(), digest_size=12).digest()
                    if left and digest not in digests:
                        digests.add(digest)
                        left -= 1
                        yield smiles, values
            if not left:
                return
    raise ValueError(f"Expected at most {len(digests):,} molecules. Got {settings.molecules:,}.")


def write(settings: MillionSettings) -> None:
    """Write the table."""
    text = io.BytesIO()
    with gzip.GzipFile(fileobj=text, mode="wb", mtime=0, compresslevel=6) as packed:
        packed.write(b"id,smiles,logp,tpsa\n")
        for number, (smiles, values) in enumerate(
            tqdm(enumerate_molecules(settings), total=settings.molecules, unit="molecule", disable=None)
        ):
            line = io.StringIO()
            csv.writer(line, lineterminator="\n").writerow(
                (f"E{number:07d}", smiles, *(f"{value:.4f}" for value in values))
            )
            packed.write(line.getvalue().encode())
    replace_file(settings.out, text.getvalue())


if __name__ == "__main__":
    write(tyro.cli(MillionSettings, prog="python -m benchmarks.speed.large.million"))
