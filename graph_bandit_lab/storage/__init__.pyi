from .export import write_csv as write_csv
from .export import write_json_lines as write_json_lines
from .export import write_parquet as write_parquet
from .export import write_tensorboard as write_tensorboard
from .files import make_folder as make_folder
from .files import sole_driver as sole_driver
from .following import ResultsFollower as ResultsFollower
from .following import Snapshot as Snapshot
from .reading import load_results as load_results
from .results import FILE_NAME as FILE_NAME
from .results import ResultStore as ResultStore
from .rows import DamagedResultsWarning as DamagedResultsWarning
from .rows import software_versions as software_versions
from .transfer import export_results as export_results
from .transfer import import_results as import_results

__all__ = [
    "FILE_NAME",
    "DamagedResultsWarning",
    "ResultStore",
    "ResultsFollower",
    "Snapshot",
    "export_results",
    "import_results",
    "load_results",
    "make_folder",
    "software_versions",
    "sole_driver",
    "write_csv",
    "write_json_lines",
    "write_parquet",
    "write_tensorboard",
]
