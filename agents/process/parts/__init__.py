"""Ways to compare graphs: each file reads them in one way, which is a part of the kernel."""

from agents.process.parts.measured import LINEAR, Measured
from agents.process.parts.part import AddTo, GraphReading, Part, Reading

__all__ = ["LINEAR", "AddTo", "GraphReading", "Measured", "Part", "Reading"]
