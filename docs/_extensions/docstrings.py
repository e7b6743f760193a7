"""Read docstrings as Markdown with sections such as `Args:`, and make links of code that names a public object."""

import dataclasses
import inspect
import re
from collections.abc import Iterator

from docutils import nodes
from docutils.utils import new_document
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

FIELDS = {"Args": "param", "Attributes": "ivar", "Raises": "raises"}  # a field for each entry
WHOLE = {"Returns": "returns", "Yields": "yields", "Shapes": "Shapes"}  # one field
MOST_FIELDS = 6
"""Of a dataclass whose signature is shown."""
ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
"""As Sphinx 9.0 writes a name of `autodoc_type_aliases` in a union."""
WORD = re.compile("[a-z0-9]+")
"""A name that may as well be that of an argument."""
ENTRY = re.compile(r"    (\*{0,2}[\w.]+(?:, \*{0,2}\w+)*): (.*)")


def write_markdown(lines: list[str]) -> Iterator[str]:
    """Yield a docstring with its sections as lists of fields, and its headings as lines in bold."""
    section = ""
    for line in lines:
        head = re.fullmatch(r"(\w+):", line)
        entry = ENTRY.fullmatch(line) if section in FIELDS else None
        if head and head[1] in {**FIELDS, **WHOLE}:
            section = head[1]
            yield from ["", f":{WHOLE[section]}:"] if section in WHOLE else [""]
        elif entry:
            yield f":{FIELDS[section]} {entry[1].replace('*', '')}: {entry[2]}"
        elif section and line[:1].strip():  # text after a section
            section = ""
            yield from ["", re.sub(r"^#+ (.*)", r"**\1**", line)]
        else:
            yield re.sub(r"^#+ (.*)", r"**\1**", line)


def wrap_docstring(app: Sphinx, what: str, name: str, target: object, options: object, lines: list[str]) -> None:
    """Hand a docstring to the directive below; a constant has that of its type, which says nothing of it."""
    if what == "data" and not inspect.isclass(target):
        lines.clear()
    elif any(lines):
        lines[:] = [".. markdown::", "", *(f"   {line}" for line in write_markdown(list(lines))), ""]


def write_signature(
    app: Sphinx, what: str, name: str, target: object, options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Leave fields of a large dataclass to the list of its attributes, and write aliases of types as their names."""
    is_large = dataclasses.is_dataclass(target) and len(dataclasses.fields(target)) > MOST_FIELDS
    if what == "class" and (is_large or getattr(target, "_is_protocol", False)):
        return "(...)" if is_large else "", None
    return signature and ALIAS.sub(r"\1", signature), returns and ALIAS.sub(r"\1", returns)


class Markdown(SphinxDirective):
    """Markdown within reStructuredText, which is what autodoc writes."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return what the text says."""
        document = new_document(self.get_source_info()[0], self.state.document.settings)
        MystParser().parse("\n".join(self.content), document)
        return document.children


def link_code(app: Sphinx, document: nodes.document, page: str) -> None:
    """Make links of code that names a public object in full, and of names such as `GraphSet` that only one has."""
    objects = app.env.domains.python_domain.objects
    short: dict[str, set[str]] = {}
    for name, entry in objects.items():
        last = name.rpartition(".")[2]
        if entry.objtype in ("class", "exception", "function") and not entry.aliased and not WORD.fullmatch(last):
            short.setdefault(last, set()).add(name)
    for literal in list(document.findall(nodes.literal)):
        text = literal.astext().removesuffix("()")
        names = {text} & set(objects) or short.get(text, set())
        if len(names) == 1 and not isinstance(literal.parent, nodes.reference | nodes.title):
            (name,) = names
            entry = objects[name]
            if entry.docname != page or entry.objtype != "module":
                literal.replace_self(
                    make_refnode(app.builder, page, entry.docname, entry.node_id, literal.deepcopy(), name)
                )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it."""
    app.add_directive("markdown", Markdown)
    app.connect("autodoc-process-docstring", wrap_docstring)
    app.connect("autodoc-process-signature", write_signature)
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("doctree-resolved", link_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
