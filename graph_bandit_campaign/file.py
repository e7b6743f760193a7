"""The file of a campaign, replaced atomically, and never after another process has changed it."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock

from graph_bandit_campaign.json_form import read_state, write_state
from graph_bandit_campaign.state import CampaignState
from graph_bandit_lab.storage import find_file, replace_file


class CampaignFile:
    """A file that holds the state of a campaign.

    Args:
        path: path of the file, or of a symbolic link to it; None: nothing is saved.

    Raises:
        ValueError: if the folder does not exist, or the path leads to something that is not a file of text.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else find_file(Path(path))
        if self.path is not None and not self.path.parent.is_dir():
            raise ValueError(f"Expected the folder of {self.path} to exist. Make it first.")
        self._written = self._text()

    def read(self) -> CampaignState | None:
        """Return the state that the file held when it was opened or last written here.

        Raises:
            ValueError: if the file does not hold a campaign.
        """
        if self.path is None or self._written is None:
            return None
        return read_state(self._written, self.path)

    def write(self, state: CampaignState) -> None:
        """Replace the file.

        Raises:
            ValueError: if another process has changed it since it was last read or written here.
        """
        if self.path is None:
            return
        with FileLock(self.path.with_name(f".{self.path.name}.lock")):
            if self._text() != self._written:
                raise ValueError(
                    f"Expected {self.path} as this campaign left it. Another process wrote to it. Open it again."
                )
            text = write_state(state)
            replace_file(self.path, text.encode())
            self._written = text

    def _text(self) -> str | None:
        try:
            return self.path.read_text(encoding="utf-8-sig") if self.path is not None and self.path.is_file() else None
        except UnicodeDecodeError as error:
            raise ValueError(
                f"Expected {self.path} to be the state of a campaign, in UTF-8. Got: {error}. Save it as UTF-8, or "
                "move it away to start a new campaign."
            ) from error
