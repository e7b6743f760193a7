"""Ways to compare graphs: each file reads them in one way, which is a part of the kernel."""

from agents.process.parts.part import GraphReading, Part, Reading

__all__ = ["GraphReading", "Part", "Reading"]
