from .archive import Export as Export
from .archive import read_export as read_export
from .exporting import Exported as Exported
from .exporting import export_results as export_results
from .importing import Imported as Imported
from .importing import import_exports as import_exports
from .importing import import_results as import_results

__all__ = [
    "Export",
    "Exported",
    "Imported",
    "export_results",
    "import_exports",
    "import_results",
    "read_export",
]
