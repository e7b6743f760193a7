"""Read forbidden substructures: SMARTS, files of them, and the catalogs of RDKit."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_bandit_campaign.text import listed
from graph_bandit_env.extras import require

if TYPE_CHECKING:
    from rdkit.Chem import Mol

FILES = (".txt", ".smarts", ".sma")  # an entry that ends so is a file
MOST_CHARACTERS = 5000  # of a SMARTS


@dataclass(frozen=True)
class Pattern:
    """Substructures that a molecule must not have."""

    text: str
    """The entry as written."""
    catalog: str = ""
    """Name of a catalog, as RDKit writes it; empty if there are SMARTS."""
    smarts: tuple[str, ...] = ()
    """SMARTS."""

    def matcher(self) -> Callable[[Mol], bool]:
        """Return what looks for the substructures in a molecule; it cannot be sent to another process."""
        from rdkit import Chem
        from rdkit.Chem import FilterCatalog

        if self.catalog:
            parameters: Any = FilterCatalog.FilterCatalogParams()  # Any: RDKit's stubs lack members of these classes
            parameters.AddCatalog(getattr(parameters.FilterCatalogs, self.catalog))
            catalog: Any = FilterCatalog.FilterCatalog(parameters)
            return lambda molecule: bool(catalog.HasMatch(molecule))
        queries = [Chem.MolFromSmarts(text) for text in self.smarts]
        return lambda molecule: any(molecule.HasSubstructMatch(query) for query in queries)


def catalog_names() -> dict[str, str]:
    """Return the names of RDKit's catalogs in small letters, each with the name that RDKit gives it."""
    require("rdkit", "Looking for substructures")
    from rdkit.Chem import FilterCatalog

    kinds: Any = FilterCatalog.FilterCatalogParams.FilterCatalogs
    return {name.lower(): name for name in kinds.names}


def read_pattern(text: str) -> Pattern:
    """Read the name of a catalog, the path of a file with a SMARTS a line, or a SMARTS.

    Lines of a file that begin with `#` are comments. A name may follow the SMARTS after a blank.

    Raises:
        ValueError: if it is none of these, or a line of the file is not a SMARTS.
        OSError: if the file cannot be read.
        ImportError: if RDKit is not installed.
    """
    text = text.strip()
    catalogs = catalog_names()
    if text.casefold() in catalogs:
        return Pattern(text.casefold(), catalog=catalogs[text.casefold()])
    if names_file(text):
        return Pattern(text, smarts=_read_file(Path(text)))
    if problem := smarts_problem(text):
        raise ValueError(
            f"Expected a substructure to forbid: a SMARTS, a file of them ({', '.join(FILES)}), or one of "
            f"{', '.join(catalogs)}. {problem}"
        )
    return Pattern(text, smarts=(text,))


def names_file(text: str) -> bool:
    """Return whether an entry is the path of a file: by its ending, or since there is one in a folder that it names."""
    path = Path(text.strip())
    in_folder = path.name != text.strip()  # `CO` may be a file, too
    return path.suffix.lower() in FILES or (in_folder and os.path.isfile(path))


def smarts_problem(text: str) -> str:
    """Say why a text is not a SMARTS; return an empty text if it is one."""
    from rdkit import Chem, rdBase

    if len(text) > MOST_CHARACTERS:
        return f"Got a text of {len(text):,} characters; a SMARTS may have {MOST_CHARACTERS:,}."
    with rdBase.BlockLogs():
        query = Chem.MolFromSmarts(text) if text and not text.split()[1:] else None
    return "" if query is not None and query.GetNumAtoms() else f"RDKit reads no SMARTS from {text!r}."


def _read_file(path: Path) -> tuple[str, ...]:
    smarts, problems = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        text = line.split()[0]
        if problem := smarts_problem(text):
            problems.append(f"line {number}: {problem}")
        smarts.append(text)
    if problems:
        raise ValueError(f"Expected a SMARTS in each line of {path}. Got {listed(problems)}")
    if not smarts:
        raise ValueError(f"Expected at least one SMARTS in {path}. Got none.")
    return tuple(dict.fromkeys(smarts))
