"""Read the head of a request strictly: what is there twice, or cannot be read, counts as wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from starlette.types import Scope


@dataclass(frozen=True)
class Head:
    """Method, address and headers of a request."""

    method: str
    path: str
    query: bytes
    fields: tuple[tuple[str, str], ...]
    """Headers, their names in small letters."""

    @classmethod
    def of(cls, scope: Scope) -> Head:
        """Return the head of a request."""
        fields = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])
        return cls(scope["method"], scope["path"], scope["query_string"], fields)

    def all_of(self, name: str) -> list[str]:
        """Return the values of a header, as often as it is there."""
        return [value for other, value in self.fields if other == name]

    def only(self, name: str) -> str | None:
        """Return the value of a header; None if it is not there, or several times."""
        values = self.all_of(name)
        return values[0] if len(values) == 1 else None

    @property
    def has_body(self) -> bool:
        """Return whether more follows than the head."""
        return self.length is None or self.length > 0

    @property
    def length(self) -> int | None:
        """Return the bytes of the body, as the server has read them; None if it comes in chunks."""
        return None if self.all_of("transfer-encoding") else int(self.only("content-length") or 0)

    @property
    def content_type(self) -> str:
        """Return the type of the body in small letters, without what stands behind it; empty if none is named."""
        return (self.only("content-type") or "").partition(";")[0].strip().lower()

    def cookies(self, name: str) -> list[str]:
        """Return the values of a cookie; a page on another port of this machine may have set a second one."""
        pairs = [pair.partition("=") for text in self.all_of("cookie") for pair in text.split(";")]
        return [value.strip() for key, _, value in pairs if key.strip() == name]

    @cached_property
    def token(self) -> str:
        """Return the token of a link; empty if there is none, or anything with it."""
        try:
            pairs = parse_qsl(self.query.decode("ascii"), keep_blank_values=True, strict_parsing=True)
        except ValueError:
            return ""
        return pairs[0][1] if [name for name, _ in pairs] == ["token"] else ""
