"""An uploaded file is not trusted: it may be broken, huge, or made to do harm."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import sqlite3
import stat
import tarfile
import time
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from trace_examples import EXAMPLES, dumped, profiler_events, profiler_trace

from advisor.core.errors import AdvisorError, TraceError
from advisor.traces import CutOffError, Limits, read, read_archive, read_directory, read_many

TRACE = dumped(profiler_trace())
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


class Marker:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.path,))


def tar(*members: tuple[str, bytes], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(*members: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def bomb(content_bytes: int) -> bytes:
    """Return a gzip file that begins like a trace and goes on with blanks.

    It consists of members of 64 MiB, of which one is compressed and all others are the same.
    """
    size = 64 * 2**20
    blanks = gzip.compress(b" " * size, 9)
    return gzip.compress(b'{"traceEvents": [') + blanks * (content_bytes // size)


def test_errors_say_what_where_and_what_to_do() -> None:
    with pytest.raises(TraceError) as caught:
        read(PNG, "picture.json")
    error = caught.value
    assert isinstance(error, AdvisorError)
    assert error.where == "picture.json"
    assert "no trace or log" in error.what
    assert "PyTorch profiler trace" in error.todo


@pytest.mark.parametrize("data", [b"", gzip.compress(b""), gzip.compress(TRACE)[:15]])
def test_an_empty_file(data: bytes) -> None:
    with pytest.raises(TraceError, match=r"empty file|cut off before any content"):
        read(data, "a.json")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"gone\.json: the file cannot be read"):
        read(tmp_path / "gone.json")


@contextmanager
def at_most(used_s: float, peak_bytes: int) -> Iterator[None]:
    """See that reading takes little time and memory."""
    tracemalloc.start()
    start = time.process_time()
    try:
        yield
        assert time.process_time() - start < used_s
        assert tracemalloc.get_traced_memory()[1] < peak_bytes
    finally:
        tracemalloc.stop()


def test_a_gzip_bomb_is_refused_early() -> None:
    data = bomb(5 * 10**9)
    assert len(data) < 6_000_000
    with at_most(5, 300_000_000), pytest.raises(TraceError, match="compressed more than 200:1"):
        read(data, "small.json.gz")


def test_bombs_in_archives_are_refused() -> None:
    inner = bomb(300 * 2**20)
    for data in (tar(("a.json.gz", inner), mode="w"), zipped(("a.json.gz", inner))):
        with at_most(5, 300_000_000), pytest.raises(TraceError, match="200:1"):
            read(data, "job")
    with pytest.raises(TraceError, match="200:1"):
        read(zipped(("a.json", bytes(300 * 2**20))), "job.zip")


def test_all_members_together_have_one_limit() -> None:
    packed = gzip.compress(TRACE)
    many = tar(*((f"{i}.json.gz", packed) for i in range(20)))
    limit = Limits(content_bytes=10 * len(TRACE))
    with pytest.raises(TraceError, match="GB of content"):
        read(many, "job.tar.gz", limits=limit)
    with pytest.raises(TraceError, match="more than 5 members"):
        read(many, "job.tar.gz", limits=Limits(members=5))


def test_layers_of_compression_are_limited() -> None:
    twice = gzip.compress(gzip.compress(TRACE))
    assert read(twice) == read(TRACE)
    with pytest.raises(TraceError, match="compressed more than 2 times"):
        read(gzip.compress(twice))


@pytest.mark.parametrize("magic", [b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"BZh91AY"])
def test_other_compressions_are_named(magic: bytes) -> None:
    with pytest.raises(TraceError, match=r"compression is not read.*gzip"):
        read(magic + bytes(50))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_are_never_loaded(protocol: int, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    harmful = pickle.dumps(Marker(marker), protocol=protocol)
    saved = zipped(("archive/data.pkl", harmful), ("archive/version", b"3"))
    for name, data in (
        ("snapshot.pickle", harmful),
        ("trace.json", harmful),
        ("trace.json.gz", gzip.compress(harmful)),
        ("model.pt", saved),
        ("job.tar.gz", tar(("data.pkl", harmful))),
    ):
        with pytest.raises(TraceError, match="never opened"):
            read(data, name)
    with pytest.raises(TraceError, match="no trace or log"):
        read(pickle.dumps(Marker(marker), protocol=0))
    assert not marker.exists()


@pytest.mark.parametrize(
    "opening", [b"[", b'{"a":', b'{"traceEvents":[{"args":', b'{"log_history":']
)
def test_deep_nesting(opening: bytes) -> None:
    for data in (opening * 200_000, b'{"global_step": 1, "log_history": ' + opening * 200_000):
        with pytest.raises(TraceError):
            read(data, "deep.json")


def test_deep_nesting_within_an_event_costs_that_event_only() -> None:
    deep = b'{"ph": "X", "name": "deep", "ts": 1, "args": ' + b'{"a":' * 50_000 + b"1"
    deep += b"}" * 50_001 + b","
    trace = read(TRACE.replace(b'"traceEvents": [', b'"traceEvents": [' + deep))
    assert trace.step_time_s == read(TRACE).step_time_s


@pytest.mark.parametrize("name", ["../up.json", "/etc/up.json", "a/../../up.json", "C:\\up.json"])
def test_members_outside_the_archive_are_refused(name: str) -> None:
    for data in (tar((name, TRACE)), zipped((name, TRACE))):
        with pytest.raises(TraceError, match="points outside"):
            read(data, "job")


def test_links_in_archives_are_not_followed() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            link = tarfile.TarInfo("link.json")
            link.type, link.linkname = kind, "/etc/passwd"
            archive.addfile(link)
    with pytest.raises(TraceError, match="none of the files"):
        read(out.getvalue(), "job.tar.gz")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive_zip:
        info = zipfile.ZipInfo("link.json")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive_zip.writestr(info, "/etc/passwd")
    with pytest.raises(TraceError, match="none of the files"):
        read(packed.getvalue(), "job.zip")


def test_links_in_folders_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.json").write_bytes(TRACE)
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "link.json").symlink_to(tmp_path / "other" / "secret.json")
    (folder / "links").symlink_to(tmp_path / "other")
    with pytest.raises(TraceError, match="no files in this folder"):
        read_directory(folder)


@pytest.mark.parametrize("cut", [0.3, 0.7, 0.98])
def test_archives_that_are_cut_off_or_damaged(cut: float) -> None:
    whole = dumped(profiler_trace(profiler_events(steps=200)))
    for data in (tar(("a.json", whole)), zipped(("a.json", whole))):
        with pytest.raises(TraceError, match=r"damaged|cut off"):
            read(data[: int(cut * len(data))], "job")


def test_an_archive_in_an_archive_and_an_archive_that_is_none() -> None:
    with pytest.raises(TraceError, match="archive inside an archive"):
        read(tar(("inner.zip", zipped(("a.json", TRACE)))), "job.tar.gz")
    with pytest.raises(TraceError, match="no tar or zip archive"):
        read_archive(TRACE)


def test_damaged_gzip_says_where() -> None:
    data = bytearray(gzip.compress(dumped(profiler_trace(profiler_events(steps=500)))))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(TraceError, match=r"damaged after [\d,]+ bytes|cut off|not valid"):
        read(bytes(data), "a.json.gz")


def test_gzip_that_is_cut_off_gives_its_first_part() -> None:
    data = gzip.compress(dumped(profiler_trace(profiler_events(steps=500))))
    with pytest.raises(CutOffError) as caught:
        read(data[: len(data) // 2], "a.json.gz")
    assert caught.value.readable.step_time_s == pytest.approx(1e-3)


def test_twenty_files_of_which_three_are_bad() -> None:
    files = [(f"rank{i}.json", TRACE) for i in range(17)]
    files += [("a.png", PNG), ("b.pickle", pickle.dumps([1])), ("c.json", TRACE[:100])]
    results = read_many(files)
    assert [r.name for r in results if r.error] == ["a.png", "b.pickle", "c.json"]
    assert sum(r.trace is not None for r in results) == 17
    job = read(tar(*files), "job.tar.gz")
    assert any("Not read: 3 of 20 files" in text for text in job.warnings)


def test_names_of_files_keep_no_paths() -> None:
    for name in ("/home/alice/secret/x.json", "C:\\Users\\alice\\secret\\x.json"):
        with pytest.raises(TraceError) as caught:
            read(PNG, name)
        assert caught.value.where == "x.json"


def test_personal_details_are_not_kept() -> None:
    device = {"id": 0, "name": "A100 at /home/alice/gpu from alice@lab.example (10.1.2.3)"}
    kernels = [e | {"name": "k /home/alice/x.cu"} for e in profiler_events()]
    trace = profiler_trace(deviceProperties=[device], tw_job="secret-job")
    trace["traceEvents"] += kernels
    text = json.dumps(read(dumped(trace)).to_dict())
    assert not any(word in text for word in ("alice", "lab.example", "10.1.2.3", "secret-job"))


def test_an_sqlite_file_of_others_is_named_and_its_views_are_not_run(tmp_path: Path) -> None:
    database = sqlite3.connect(":memory:")
    database.executescript("CREATE TABLE t (x INT); CREATE VIEW v AS SELECT 1;")
    with pytest.raises(TraceError, match="not of Nsight Systems"):
        read(database.serialize(), "other.sqlite")
    endless = """
        CREATE TABLE StringIds (id INT, value TEXT);
        CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT i AS start, i AS end, 0 AS deviceId, 0 AS streamId, 1 AS shortName FROM n;
    """
    database = sqlite3.connect(":memory:")
    database.executescript(endless)
    trace = read(database.serialize(), "endless.sqlite")
    assert trace.gpu_busy_share is None


def test_a_damaged_sqlite_file() -> None:
    data = bytearray(EXAMPLES["nsys_sqlite"])
    data[4096:8192] = bytes(4096)
    with pytest.raises(TraceError):
        read(bytes(data), "report.sqlite")


def test_long_lines_and_long_events_are_limited() -> None:
    line = b"x" * 3_000_000 + b"\n" + EXAMPLES["megatron_log"]
    assert read(line).step_time_s == pytest.approx(2.0)
    endless = b'{"traceEvents": [{"ph": "X", "name": "' + b"x" * 2_000_000
    with pytest.raises(TraceError, match="bytes in one event"):
        read(endless, limits=Limits(event_bytes=100_000))


def test_many_names_of_kernels_are_counted_together() -> None:
    events = [e | {"name": f"{e['name']}-{i}"} for i, e in enumerate(profiler_events(steps=200))]
    trace = read(dumped(profiler_trace(events)), limits=Limits(names=50))
    assert any("too many kernel names" in text for text in trace.warnings)
    assert trace.kernels[0].name == "(further kernels)"


def test_memory_does_not_grow_with_the_file() -> None:
    unit = dumped(profiler_events(steps=200), None)[1:-1]
    filler = dumped([{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 1}], None)
    body = b", ".join([unit, *([filler[1:-1]] * 300_000)])
    file = io.BytesIO(b'{"traceEvents": [' + body + b"]}")
    assert len(file.getbuffer()) > 20_000_000
    with at_most(20, 20_000_000):
        assert read(file).steps == 200


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.nsys-rep", "nsys export --type sqlite"),
        ("a.ncu-rep", "Nsight Compute"),
        ("a.nvvp", "nvprof"),
    ],
)
def test_closed_formats_are_explained_by_their_names(name: str, words: str) -> None:
    with pytest.raises(TraceError, match=words):
        read(b"\x01\x02closed\x00format", name)
