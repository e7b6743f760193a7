from .encoding import software_versions as software_versions
from .export import write_csv as write_csv
from .export import write_json_lines as write_json_lines
from .export import write_parquet as write_parquet
from .export import write_tensorboard as write_tensorboard
from .files import find_file as find_file
from .files import make_folder as make_folder
from .files import replace_file as replace_file
from .files import sole_driver as sole_driver
from .following import ResultsFollower as ResultsFollower
from .following import Snapshot as Snapshot
from .reading import load_results as load_results
from .results import FILE_NAME as FILE_NAME
from .results import ResultStore as ResultStore
from .rows import DamagedResultsWarning as DamagedResultsWarning

__all__ = [
    "FILE_NAME",
    "DamagedResultsWarning",
    "ResultStore",
    "ResultsFollower",
    "Snapshot",
    "find_file",
    "load_results",
    "make_folder",
    "replace_file",
    "software_versions",
    "sole_driver",
    "write_csv",
    "write_json_lines",
    "write_parquet",
    "write_tensorboard",
]
