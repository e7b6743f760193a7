"""Read the head of a request strictly: what is there twice, or cannot be read, counts as wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from starlette.types import Scope

MOST_COOKIES = 50
MOST_FIELDS = 10
MOST_DIGITS = 15


@dataclass(frozen=True)
class Head:
    """Method, address and headers of a request."""

    method: str
    path: str
    query: bytes
    fields: tuple[tuple[str, str], ...]
    """Headers, their names in small letters."""
    target_size: int
    """Bytes of the address."""

    @classmethod
    def of(cls, scope: Scope) -> Head:
        """Return the head of a request."""
        fields = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])
        raw = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogatepass")
        return cls(scope["method"], scope["path"], scope["query_string"], fields, len(raw) + len(scope["query_string"]))

    @property
    def size(self) -> int:
        """Return the bytes of all headers."""
        return sum(len(name) + len(value) + 4 for name, value in self.fields)

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
        lengths = self.all_of("content-length")
        return "transfer-encoding" in dict(self.fields) or any(length.strip() != "0" for length in lengths)

    @property
    def length(self) -> int | None:
        """Return the bytes of the body that are announced; None if there are none, or they cannot be read."""
        text = (self.only("content-length") or "").strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None

    @property
    def content_type(self) -> str:
        """Return the type of the body in small letters, without what stands behind it; empty if none is named."""
        return (self.only("content-type") or "").partition(";")[0].strip().lower()

    def cookies(self, name: str) -> list[str]:
        """Return the values of a cookie; a page on another port of this machine may have set a second one."""
        pairs = [pair.partition("=") for text in self.all_of("cookie") for pair in text.split(";")[:MOST_COOKIES]]
        return [value.strip() for key, _, value in pairs if key.strip() == name]

    @cached_property
    def token(self) -> str:
        """Return the token of a link; empty if there is none, or anything with it."""
        try:
            pairs = parse_qsl(
                self.query.decode("ascii"), keep_blank_values=True, strict_parsing=True, max_num_fields=MOST_FIELDS
            )
        except ValueError:
            return ""
        return pairs[0][1] if [name for name, _ in pairs] == ["token"] else ""
