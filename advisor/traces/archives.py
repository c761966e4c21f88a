"""Members of tar and zip archives, and files of a folder, one at a time; nothing is extracted."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING, Final

from advisor.core.errors import TraceError
from advisor.traces.source import Source, spool
from advisor.traces.streams import Budget
from advisor.traces.watching import Portion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.traces.limits import Limits
    from advisor.traces.streams import Progress

ZIP_MAGIC: Final = b"PK\x03\x04"
_EMPTY_ZIP: Final = b"PK\x05\x06"
_TAR_AT: Final = 257


def is_tar(head: bytes) -> bool:
    """Tell whether content is a tar archive."""
    return head[_TAR_AT : _TAR_AT + 5] == b"ustar"


def is_zip(head: bytes) -> bool:
    """Tell whether content is a zip archive."""
    return head.startswith((ZIP_MAGIC, _EMPTY_ZIP))


def members(source: Source) -> Iterator[Source]:
    """Yield the files of an archive that may be traces; each is to be read before the next.

    Raises
    ------
    TraceError
        If the archive is damaged, encrypted, too large, or holds a member outside itself or an
        object that runs code when it is loaded.
    """
    return _of_tar(source) if is_tar(source.head) else _of_zip(source)


def _of_tar(source: Source) -> Iterator[Source]:
    budget = Budget(source.limits, source.name)
    with source.open() as stream:
        try:
            with tarfile.open(fileobj=stream, mode="r|") as tar:  # type: ignore[call-overload]
                for count, member in enumerate(tar):
                    _check_member(source, member.name, count)
                    if member.isreg() and not _is_hidden(member.name):
                        content = tar.extractfile(member)
                        if content is not None:
                            watch = source.watch_member()
                            yield from _spooled(content, member.name, source, budget, watch)
        except (tarfile.TarError, EOFError, OSError, ValueError) as error:
            raise _damaged(source, "tar", error) from None
        cut_off = stream.cut_off
    if cut_off:
        raise TraceError(
            "the archive is cut off.",
            where=source.name,
            todo="Copy it again from where it was recorded.",
        )


def _of_zip(source: Source) -> Iterator[Source]:
    budget = Budget(source.limits, source.name)
    with source.as_file() as path:
        try:
            with zipfile.ZipFile(path) as archive:
                listed = archive.infolist()
                for count, member in enumerate(listed):
                    _check_member(source, member.filename, count)
                whole = sum(member.compress_size for member in listed)
                done = 0
                for member in listed:
                    watch = source.progress and Portion(
                        source.progress, done, member.compress_size, whole
                    )
                    done += member.compress_size
                    if member.is_dir() or _is_hidden(member.filename) or _is_link(member):
                        continue
                    _check_ratio(source, member)
                    with archive.open(member) as content:
                        yield from _spooled(content, member.filename, source, budget, watch)
        except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
            raise _damaged(source, "zip", error) from None
        except RuntimeError:
            raise TraceError(
                "the archive is encrypted.",
                where=source.name,
                todo="Pack it without a password.",
            ) from None


def _spooled(
    content: IO[bytes], name: str, source: Source, budget: Budget, watch: Progress | None
) -> Iterator[Source]:
    with spool(content, budget) as file:
        member = Source(file, name, source.limits, watch)
        yield member
        # What a compressed member held counts for the archive as well.
        budget.spend(member.content_bytes if member.compressions else 0)


def _check_member(source: Source, name: str, count: int) -> None:
    where = f"{source.name}, member {count + 1}"
    if count >= source.limits.members:
        raise TraceError(
            f"more than {source.limits.members:,} members.",
            where=source.name,
            todo="Pack the traces of one job only.",
        )
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    if posix.is_absolute() or windows.drive or ".." in posix.parts or ".." in windows.parts:
        raise TraceError(
            "the member points outside the archive; refused.",
            where=where,
            todo="Pack the files again with relative names.",
        )
    if posix.name == "data.pkl":
        raise refuse_pickle(where)


def _check_ratio(source: Source, member: zipfile.ZipInfo) -> None:
    limits = source.limits
    if member.file_size > limits.ratio_from_bytes and member.file_size > limits.ratio * max(
        member.compress_size, 1
    ):
        raise TraceError(
            f"a member is compressed more than {limits.ratio}:1, which no trace is; refused.",
            where=source.name,
            todo="Upload the files that the profiler wrote.",
        )


def refuse_pickle(where: str) -> TraceError:
    """Return the refusal of a Python object: loading it would run whatever it says."""
    return TraceError(
        "this is a saved Python object (pickle), which can run code when it is loaded; it is "
        "never opened.",
        where=where,
        todo="Peak memory can be read from a profiler trace with profile_memory=True, or a log.",
    )


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


def _is_link(member: zipfile.ZipInfo) -> bool:
    return (member.external_attr >> 28) == 0xA


def _damaged(source: Source, kind: str, error: Exception) -> TraceError:
    return TraceError(
        f"the {kind} archive is damaged ({error or type(error).__name__}).",
        where=source.name,
        todo="Pack or copy it again.",
    )


def files_of(folder: Path, limits: Limits) -> list[Path]:
    """Return the regular files below a folder, in order of name; links are not followed.

    Raises
    ------
    TraceError
        If there are none or too many.
    """
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not _is_hidden(str(path.relative_to(folder)))
        and not any(p.is_symlink() for p in (path, *path.parents) if p.is_relative_to(folder))
    ]
    if not found or len(found) > limits.members:
        what = f"more than {limits.members:,} files." if found else "no files in this folder."
        raise TraceError(what, where=folder.name, todo="Give the folder of one job's traces.")
    return found
