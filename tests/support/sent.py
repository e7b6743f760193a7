"""How every kind of file that somebody may send is read."""

from graph_bandit_campaign import Campaign
from graph_bandit_campaign.backtest.run import read_saved
from graph_bandit_campaign.constraints.limits.wishes import Pattern
from graph_bandit_campaign.pool.prepared import PreparedPool
from graph_bandit_campaign.screening.program import read_values
from graph_bandit_env import from_smiles, from_smiles_csv
from graph_bandit_env.files import read_embeddings, read_pool
from graph_bandit_env.pools.products import read_product_library
from graph_bandit_lab import load_results
from graph_bandit_lab.design import read_sweep
from graph_bandit_lab.design.grids import read_tuned
from graph_bandit_lab.design.sweep_file import read_tables
from graph_bandit_lab.logged import Log
from graph_bandit_lab.storage import import_results
from support.hostile import HOSTILE

__all__ = ["HOSTILE", "READERS", "read"]


def read_molecules(path):
    return from_smiles_csv(path).smiles


def read_campaign(path):
    return repr(Campaign(from_smiles(["CCO", "CCN", "CCC"]), state=path).ids)


def read_results(path):
    return load_results(path.parent)["label"].tolist()


def read_blocks(path):
    pool = PreparedPool.open(path)
    return len(pool), [block.smiles for block in pool.blocks(())]


def read_rounds(path):
    import_results(path.parent / "taken", [path])
    return load_results(path.parent / "taken").to_dict("records")


def read_settings(path):
    return read_tuned(path, "steps").settings


def read_sweeps(path):
    return len(read_sweep(path).plan().repetitions)


def read_products(path):
    library, remarks = read_product_library(path)
    return remarks, library.make(range(min(len(library), 100)))


def read_scores(path):
    try:
        return read_values(path, {"a", "b"})
    except ValueError as error:
        raise ValueError(f"Expected values: {error}") from None


def read_plays(path):
    return len(read_saved(path, {}).plays)


def read_smarts(path):
    return Pattern.parse(str(path)).smarts


READERS = {
    "tables": read_molecules,
    "graphs": lambda path: len(read_pool(path)),
    "embeddings": read_embeddings,
    "substructures": read_smarts,
    "campaigns": read_campaign,
    "sweeps": read_sweeps,
    "where tables are": read_tables,
    "product libraries": read_products,
    "values of a program": read_scores,
    "tuned settings": read_settings,
    "results": read_results,
    "exports": read_rounds,
    "logs": lambda path: Log.load(path).num_rounds,
    "prepared pools": read_blocks,
    "backtests": read_plays,
}


def read(kind, path):
    """Read a file of a kind; return the beginning of what it holds, or refuse it in an error that can be sent."""
    try:
        return str(READERS[kind](path))[:2000]
    except ValueError as error:
        place, expected, words = str(error).partition("xpected ")
        raise ValueError(f"E{expected}{words}" if place.endswith((": e", "E")) else str(error)) from None
