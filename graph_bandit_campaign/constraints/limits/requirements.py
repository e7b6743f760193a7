"""Parse limits as people write them: `mw<500`, `logp=1..4`, `stock=yes`, and substructures. No numpy."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_bandit_campaign.text import listed
from graph_bandit_env.extras import require

if TYPE_CHECKING:
    from rdkit.Chem import Mol

NUMBER = r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
# A name may contain operators, as in `logD (pH=7.4)<3`. The last operator counts, since numbers contain none.
WRITTEN = re.compile(
    rf"\s*(?P<name>.*[^\s<>=!≤≥])\s*(?P<sign><=|>=|[<>=≤≥])\s*"
    rf"(?:(?P<value>{NUMBER})|(?P<low>{NUMBER})?\.\.(?P<high>{NUMBER})?)\s*",
    re.DOTALL,
)
FILES = (".txt", ".smarts", ".sma")  # an entry with such an ending is a file
MOST_CHARACTERS = 5000  # of a SMARTS
SMARTS, CATALOG = 20, 1700  # ms for 1,000 molecules of 25 atoms
FORMS = "`mw<500`, `qed>=0.5`, `hbd=2`, or `logp=1..4`"
# Module and function of RDKit, and the time for 1,000 molecules of 25 atoms, in ms. Only the order of the times
# matters, so that fast properties come first.
PROPERTIES = {
    "charge": ("rdmolops", "GetFormalCharge", 1),
    "heavy_atoms": ("Lipinski", "HeavyAtomCount", 1),
    "heteroatoms": ("rdMolDescriptors", "CalcNumHeteroatoms", 1),
    "mw": ("Descriptors", "MolWt", 2),
    "exact_mass": ("Descriptors", "ExactMolWt", 2),
    "rings": ("rdMolDescriptors", "CalcNumRings", 1),
    "aromatic_rings": ("rdMolDescriptors", "CalcNumAromaticRings", 2),
    "fraction_sp3": ("rdMolDescriptors", "CalcFractionCSP3", 2),
    "tpsa": ("rdMolDescriptors", "CalcTPSA", 8),
    "hbd": ("rdMolDescriptors", "CalcNumHBD", 10),
    "hba": ("rdMolDescriptors", "CalcNumHBA", 20),
    "rotatable_bonds": ("rdMolDescriptors", "CalcNumRotatableBonds", 80),
    "stereocentres": ("rdMolDescriptors", "CalcNumAtomStereoCenters", 30),
    "molar_refractivity": ("Crippen", "MolMR", 230),
    "logp": ("Crippen", "MolLogP", 230),
    "qed": ("QED", "qed", 1000),
}


def find_property(name: str) -> str:
    """Find a property by name, ignoring case, and return its exact name, or an empty text."""
    return name.casefold() if name.casefold() in PROPERTIES else ""


@dataclass(frozen=True)
class Requirement:
    """A limit on a number."""

    text: str = field(repr=False)
    """The limit as written, stripped of whitespace."""
    name: str
    """Name of a column or a property."""
    low: float = -math.inf
    """Lower end."""
    high: float = math.inf
    """Upper end."""
    strict: bool = False
    """True if the ends are excluded."""

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Parse a limit such as `mw<500`, `hbd=2` or `logp=1..4`. Ranges include both ends, and one may be omitted.

        Raises:
            ValueError: if it has another form, or no number meets it.
        """
        match = WRITTEN.fullmatch(text)
        ends = [] if not match else [float(match[end]) for end in ("value", "low", "high") if match[end] is not None]
        if not match or not ends or (match["value"] is None and match["sign"] != "="):
            shell = (
                "Write numbers with a decimal point and without a unit. In a shell, put the limit in quotation marks."
            )
            raise ValueError(f"Expected a limit such as {FORMS}. Got {text!r}. {shell}")
        sign = match["sign"].replace("≤", "<=").replace("≥", ">=")
        if match["value"] is not None:
            value = float(match["value"])
            low, high = (-math.inf if "<" in sign else value), (math.inf if ">" in sign else value)
        else:
            low, high = float(match["low"] or "-inf"), float(match["high"] or "inf")
        if not all(map(math.isfinite, ends)) or low > high:
            raise ValueError(f"Expected a limit from a smaller to a larger finite number. Got {text!r}.")
        return cls(text.strip(), match["name"], low, high, sign in ("<", ">"))

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Return both ends, None for a missing end."""
        return (self.low if self.low > -math.inf else None), (self.high if self.high < math.inf else None)

    def accepts(self, value: float) -> bool:
        """Return True if a number meets the limit. An unknown number (NaN) does not."""
        return self.low < value < self.high if self.strict else self.low <= value <= self.high

    @property
    def cost(self) -> int:
        """Return the approximate time to compute the property, in ms for 1,000 molecules."""
        return PROPERTIES[find_property(self.name)][2]

    def checker(self) -> Callable[[Mol], bool]:
        """Return a function that tests the property of a molecule. It returns False if RDKit cannot compute it."""
        module, function, _ = PROPERTIES[find_property(self.name)]
        compute = getattr(import_module(f"rdkit.Chem.{module}"), function)

        def check(molecule: Mol) -> bool:
            with suppress(ValueError, RuntimeError):
                return self.accepts(float(compute(molecule)))
            return False

        return check


@dataclass(frozen=True)
class Choice:
    """A limit on a column of text."""

    text: str = field(repr=False)
    """The limit as written."""
    name: str
    """Name of the column."""
    values: tuple[str, ...]
    """Accepted cells, in alphabetical order."""

    @classmethod
    def parse(cls, text: str) -> Choice:
        """Parse a limit such as `stock=yes` or `vendor=A,B`. Values with a comma need double quotation marks.

        Raises:
            ValueError: if it has another form, or a value is empty.
        """
        name, sign, rest = (part.strip() for part in text.partition("="))
        try:
            values = next(csv.reader([rest], skipinitialspace=True, strict=True), [])
        except csv.Error:
            values = []
        values = [value.strip() for value in values]
        if not name or not sign or not values or not all(values):
            raise ValueError(f"Expected a column and its values, as `stock=yes` or `vendor=A,B`. Got {text!r}.")
        return cls(text.strip(), name, tuple(sorted(set(values))))

    def accepts(self, cell: str) -> bool:
        """Return True if a cell meets the limit."""
        return cell in self.values


@dataclass(frozen=True)
class Pattern:
    """Substructures that a molecule must not have."""

    text: str = field(repr=False)
    """The entry as written."""
    catalog: str = ""
    """RDKit's name of a catalog. Empty if there are SMARTS."""
    smarts: tuple[str, ...] = ()
    """SMARTS."""

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Parse the name of a catalog, the path of a file with one SMARTS per line, or a SMARTS.

        Lines of a file that begin with `#` are comments. A SMARTS may be followed by a blank and a name.

        Raises:
            ValueError: if it is none of these, or a line of the file is not a SMARTS.
            OSError: if the file cannot be read.
            ImportError: if RDKit is not installed.
        """
        text = text.strip()
        catalogs = catalog_names()
        if text.casefold() in catalogs:
            return cls(text.casefold(), catalog=catalogs[text.casefold()])
        smarts = {"": text}
        if names_file(text):
            lines = enumerate(Path(text).read_text(encoding="utf-8-sig").splitlines(), start=1)
            words = {number: line.split()[0] for number, line in lines if line.strip()}
            smarts = {f"line {number}: ": word for number, word in words.items() if not word.startswith("#")}
        problems = [f"{line}{problem}" for line, one in smarts.items() if (problem := smarts_problem(one))]
        if problems or not smarts:
            kinds = f"a SMARTS, a file with one a line ({', '.join(FILES)}), or one of {', '.join(catalogs)}"
            raise ValueError(f"Expected a substructure to forbid: {kinds}. {listed(problems) or f'{text} has none.'}")
        return cls(text, smarts=tuple(dict.fromkeys(smarts.values())))

    @property
    def cost(self) -> int:
        """Return the approximate time of the test, in ms for 1,000 molecules of 25 atoms."""
        return CATALOG if self.catalog else SMARTS * len(self.smarts)

    def checker(self) -> Callable[[Mol], bool]:
        """Return a function that tests that a molecule has none of the substructures. It cannot be pickled."""
        from rdkit import Chem
        from rdkit.Chem import FilterCatalog

        if self.catalog:
            parameters: Any = FilterCatalog.FilterCatalogParams()  # Any: RDKit's stubs lack members of these classes
            parameters.AddCatalog(getattr(parameters.FilterCatalogs, self.catalog))
            catalog: Any = FilterCatalog.FilterCatalog(parameters)
            return lambda molecule: not catalog.HasMatch(molecule)
        queries = [Chem.MolFromSmarts(text) for text in self.smarts]
        return lambda molecule: not any(molecule.HasSubstructMatch(query) for query in queries)


def catalog_names() -> dict[str, str]:
    """Return the names of RDKit's catalogs in lower case, each with RDKit's spelling."""
    require("rdkit", "Looking for substructures")
    from rdkit.Chem import FilterCatalog

    kinds: Any = FilterCatalog.FilterCatalogParams.FilterCatalogs
    return {name.lower(): name for name in kinds.names}


def names_file(text: str) -> bool:
    """Return True if an entry is the path of a file: by its ending, or because a file in a folder exists."""
    path = Path(text.strip())
    in_folder = path.name != text.strip()  # `CO` may also be a file
    return path.suffix.lower() in FILES or (in_folder and os.path.isfile(path))


def smarts_problem(text: str) -> str:
    """Explain why a text is not a SMARTS, or return an empty text if it is valid."""
    from rdkit import Chem, rdBase

    if len(text) > MOST_CHARACTERS:
        return f"Got a text of {len(text):,} characters. A SMARTS may have {MOST_CHARACTERS:,}."
    with rdBase.BlockLogs():
        query = Chem.MolFromSmarts(text) if text and not text.split()[1:] else None
    return "" if query is not None and query.GetNumAtoms() else f"RDKit reads no SMARTS from {text!r}."
