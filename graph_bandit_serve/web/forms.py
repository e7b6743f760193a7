"""Read the forms of pages strictly: what is too long or too much is refused, and what is not asked for is left out."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException as FormError

from graph_bandit_campaign import SuggestSettings

MOST_FIELDS = 20_000
MOST_FILES = 10
LONGEST_FIELD = 100_000
NAMES = ("n", "require", "forbid", "only", "price", "budget", "at_most", "per")
UNSET = {
    field.name: [*field.default] if isinstance(field.default, tuple) else field.default
    for field in dataclasses.fields(SuggestSettings)
    if field.name in NAMES
}
"""Settings that forms have, as `suggest` has them if nobody says otherwise."""


@dataclass(frozen=True)
class Sent:
    """A form that was sent."""

    fields: tuple[tuple[str, str], ...]
    """Names and values of texts, in their order."""
    files: tuple[tuple[str, UploadFile], ...]
    """Names of fields, and files; fields without one are left out."""

    def get(self, name: str) -> str:
        """Return a text without blanks around it; empty if there is none."""
        return dict(self.fields).get(name, "").strip()

    def lines(self, name: str) -> list[str]:
        """Return the lines of a text that are not empty."""
        return [line.strip() for line in self.get(name).splitlines() if line.strip()]

    def starting(self, start: str) -> dict[str, str]:
        """Return the texts of fields whose names begin so and that are not empty, by the rest of the name."""
        return {
            name[len(start) :]: text.strip() for name, text in self.fields if name.startswith(start) and text.strip()
        }


async def read_form(request: Request) -> AsyncIterator[Sent]:
    """Yield the form that a browser has sent; its files are closed after the request.

    Raises:
        HTTPException: if it cannot be read.
    """
    try:
        form = await request.form(max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=LONGEST_FIELD)
    except FormError as error:  # not one of FastAPI's
        raise HTTPException(422, f"Expected a form of this page. {error.detail}") from error
    pairs = form.multi_items()
    texts = tuple((name, value) for name, value in pairs if isinstance(value, str))
    files = tuple((name, value) for name, value in pairs if isinstance(value, UploadFile) and value.filename)
    try:
        yield Sent(texts, files)
    finally:
        await form.close()


SentForm = Annotated[Sent, Depends(read_form)]


def number_of(sent: Sent, name: str, kind: type[int] | type[float]) -> float | None:
    """Return the number in a field; None if it is empty.

    Raises:
        HTTPException: if it is not a number of this kind.
    """
    text = sent.get(name)
    try:
        return kind(text) if text else None
    except ValueError as error:
        wanted = "a whole number" if kind is int else "a number"
        raise HTTPException(422, f"Expected `{name}` to be {wanted}. Got {text[:100]!r}.") from error


def settings_of(sent: Sent) -> dict[str, object]:
    """Return the settings of `suggest` in a form, as in JSON; all that the form has, so that emptied ones change, too.

    Raises:
        HTTPException: if a number is none.
    """
    settings: dict[str, object] = {}
    for name in set(NAMES).intersection(name for name, _ in sent.fields):
        if name in ("n", "at_most", "budget"):
            settings[name] = number_of(sent, name, float if name == "budget" else int)
        else:
            settings[name] = sent.lines(name) if isinstance(UNSET[name], list) else sent.get(name) or None
    return settings


def changed(settings: Mapping[str, object], command: Mapping[str, object]) -> dict[str, object]:
    """Return those settings that differ from a command, which has those alone that differ from their defaults."""
    plain = {name: [*value] if isinstance(value, tuple) else value for name, value in command.items()}
    before = {**UNSET, **plain}
    return {name: value for name, value in settings.items() if value != before[name]}
