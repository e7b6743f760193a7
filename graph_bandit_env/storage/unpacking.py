"""Say how much a zip archive unpacks to, before anything of it is unpacked."""

from __future__ import annotations

from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

MOST_DEFLATED = 1032  # times that deflate packs zeros; bzip2 packs them a million times


def unpacked_size(archive: ZipFile) -> int:
    """Return how many bytes the files of an archive have.

    Python reads no more of a file than the archive says, but bzip2 and LZMA would unpack all of it first. Neither NumPy
    nor a spreadsheet or torch packs by them.

    Raises:
        BadZipFile: if a file is packed in another way than by deflate.
    """
    for part in archive.infolist():
        if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise BadZipFile(f"{part.filename} is packed in another way than such files are")
    return sum(part.file_size for part in archive.infolist())
