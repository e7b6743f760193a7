"""Store results: the results file, its table, and files for other programs."""

from graph_bandit_lab.storage.database import make_folder, sole_driver
from graph_bandit_lab.storage.reading import load_results
from graph_bandit_lab.storage.results import FILE_NAME, ResultStore
from graph_bandit_lab.storage.rows import software_versions
from graph_bandit_lab.storage.transfer import export_results, import_results

__all__ = [
    "FILE_NAME",
    "ResultStore",
    "export_results",
    "import_results",
    "load_results",
    "make_folder",
    "software_versions",
    "sole_driver",
]
