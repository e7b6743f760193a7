"""Parts of the kernel: each file reads and compares graphs in one way."""

from agents.process.parts.part import GraphReading, Part, Reading

__all__ = ["GraphReading", "Part", "Reading"]
