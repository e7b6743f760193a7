from .figures import COLORS as COLORS
from .figures import STYLE as STYLE
from .pages import templates as templates
from .pages import to_svg as to_svg
from .tables import print_columns as print_columns

__all__ = ["COLORS", "STYLE", "print_columns", "templates", "to_svg"]
