"""Read forbidden substructures: SMARTS, files of them, and the catalogs of RDKit."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_bandit_env.extras import require

if TYPE_CHECKING:
    from rdkit.Chem import Mol

FILES = (".txt", ".smarts", ".sma")  # an entry that ends so is a file
MOST_CHARACTERS = 5000  # of a SMARTS
SHOWN = 10  # bad lines in a message


@dataclass(frozen=True)
class Pattern:
    """Substructures that a molecule must not have."""

    text: str
    """The entry as written."""
    catalog: str = ""
    """Name of a catalog, as RDKit writes it; empty if there are SMARTS."""
    smarts: tuple[str, ...] = ()
    """SMARTS."""

    def matcher(self) -> Matcher:
        """Return what looks for the substructures in molecules."""
        return Matcher(self)


class Matcher:
    """Look for the substructures of a pattern; it cannot be sent to another process."""

    def __init__(self, pattern: Pattern) -> None:
        from rdkit import Chem
        from rdkit.Chem import FilterCatalog

        catalog: Any = None  # Any: RDKit's stubs lack the members of these classes
        if pattern.catalog:
            parameters = FilterCatalog.FilterCatalogParams()
            parameters.AddCatalog(getattr(FilterCatalog.FilterCatalogParams.FilterCatalogs, pattern.catalog))
            catalog = FilterCatalog.FilterCatalog(parameters)
        self._catalog = catalog
        self._queries = [Chem.MolFromSmarts(text) for text in pattern.smarts]

    def matches(self, molecule: Mol) -> bool:
        """Return whether the molecule has one of the substructures."""
        if self._catalog is not None:
            return bool(self._catalog.HasMatch(molecule))
        return any(molecule.HasSubstructMatch(query) for query in self._queries)


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
    problem = smarts_problem(text)
    if problem:
        nearest = difflib.get_close_matches(text.casefold(), catalogs, n=1, cutoff=0.75)
        hint = f" Did you mean `{nearest[0]}`?" if nearest else ""
        raise ValueError(
            f"Expected a substructure to forbid: a SMARTS, a file of them ({', '.join(FILES)}), or one of "
            f"{', '.join(catalogs)}. {problem}{hint}"
        )
    return Pattern(text, smarts=(text,))


def names_file(text: str) -> bool:
    """Return whether an entry is the path of a file: by its ending, or since there is one in a folder that it names."""
    path = Path(text.strip())
    return path.suffix.lower() in FILES or (path.name != text.strip() and _is_file(path))  # `CO` may be a file, too


def smarts_problem(text: str) -> str:
    """Say why a text is not a SMARTS; return an empty text if it is one."""
    require("rdkit", "Looking for substructures")
    from rdkit import Chem, rdBase

    if len(text) > MOST_CHARACTERS:
        return f"Got a text of {len(text):,} characters; a SMARTS may have {MOST_CHARACTERS:,}."
    with rdBase.BlockLogs():
        query = Chem.MolFromSmarts(text) if text and not text.split()[1:] else None
    return "" if query is not None and query.GetNumAtoms() else f"RDKit reads no SMARTS from {text!r}."


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a long SMARTS cannot be a path
        return False


def _read_file(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        raise FileNotFoundError(f"Expected a file of SMARTS. Got {path}, which is not a file.")
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"Expected {path} in UTF-8. Got: {error}. Save it as UTF-8.") from error
    smarts, problems = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        text = line.split()[0]
        problem = smarts_problem(text)
        if problem:
            problems.append(f"line {number}: {problem}")
        smarts.append(text)
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems[:SHOWN])
        more = f"\n  and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise ValueError(f"Expected a SMARTS in each line of {path}. {len(problems)} lines are bad:\n{listed}{more}")
    if not smarts:
        raise ValueError(f"Expected at least one SMARTS in {path}. Got none.")
    return tuple(dict.fromkeys(smarts))
