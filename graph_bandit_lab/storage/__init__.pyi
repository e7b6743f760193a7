from .files import make_folder as make_folder
from .files import replace_file as replace_file

__all__ = ["make_folder", "replace_file"]
