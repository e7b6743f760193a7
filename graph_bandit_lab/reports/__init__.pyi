from .columns import print_columns as print_columns
from .figures import COLORS as COLORS
from .figures import DASHES as DASHES
from .figures import STYLE as STYLE
from .pages import templates as templates
from .pages import to_svg as to_svg
from .report import title_of as title_of
from .report import write_report as write_report
from .rounds import tables_of_rounds as tables_of_rounds
from .standing import lines_of_standing as lines_of_standing
from .tables import further_tables as further_tables
from .tables import print_warnings as print_warnings
from .tables import table_of as table_of
from .tables import table_of_changes as table_of_changes

__all__ = [
    "COLORS",
    "DASHES",
    "STYLE",
    "further_tables",
    "lines_of_standing",
    "print_columns",
    "print_warnings",
    "table_of",
    "table_of_changes",
    "tables_of_rounds",
    "templates",
    "title_of",
    "to_svg",
    "write_report",
]
