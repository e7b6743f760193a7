"""Settings of the site, which `make docs` builds into `site/`. Nothing it loads comes from another machine."""

import sys
import warnings
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
warnings.filterwarnings("ignore", ".torch.jit.script. is deprecated")  # when PyG is imported

project = "graph-bandit-env"
version = release = metadata(project)["Version"]
repository = dict(url.split(", ") for url in metadata(project).get_all("Project-URL"))["Repository"]
copyright = "the authors of graph-bandit-env"  # noqa: A001 - Sphinx's name

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_design"]
extensions += ["docstrings", "reference", "examples", "mathml"]  # of _extensions
lexers["csv"] = TextLexer()  # Pygments has none
exclude_patterns = ["_*", "announcements"]  # texts for other sites

# Pages are Markdown, and so are docstrings (see _extensions/docstrings.py).
myst_enable_extensions = ["colon_fence", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
highlight_language = "none"  # of indented blocks

add_module_names = False
autodoc_mock_imports = [name for name in ("botorch", "gpytorch", "linear_operator", "ax") if find_spec(name) is None]
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "NDArray", "ModuleOrFactory", "AgentFactory", "State")}
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_title = project
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "github_url": repository,
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 8,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {page: [] for page in ("index", "theory/*", "contributing", "changelog", "policy")}
