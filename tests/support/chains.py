"""A pool of many small molecules, so that a round takes a while."""

from itertools import islice, product

STARTS = ("C", "CC", "CCC", "OC", "NC", "FC", "ClC", "BrC", "N#CC", "OCC", "NCC", "FCC", "COC", "CNC", "CSC", "C=CC")
MIDDLES = (
    "C",
    "CC",
    "CCC",
    "CCCC",
    "C(C)",
    "C(F)",
    "C(O)",
    "C(N)",
    "C=C",
    "C#C",
    "COC",
    "CNC",
    "CSC",
    "C(=O)NC",
    "C(CC)",
)
ENDS = ("C", "CC", "CCC", "CO", "CN", "CF", "CCl", "CBr", "CC#N", "CCO", "CCN", "CCF", "COC", "CNC", "CSC", "CC=C")


def many_molecules(count=16_000):
    """Return the rows of a table of chains, of which some are the same molecule."""
    parts = islice(product(STARTS, MIDDLES, MIDDLES, ENDS), count)
    return [("id", "smiles"), *((f"c{number}", "".join(each)) for number, each in enumerate(parts))]
