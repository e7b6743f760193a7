"""What tests share."""

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
"""Of the repository."""
