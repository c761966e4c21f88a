"""The command ``trace``: files, directories, and what must be refused."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from command_line import run_fixture  # noqa: F401 - fixture
from run_files import MAIN_KEYS, PNG, bomb, harmful, kineto, megatron, table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command_line import Ran


def test_a_file_gives_one_object_of_exactly_the_agreed_keys(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    (tmp_path / "train.log").write_text(megatron())
    ran = run("trace", str(tmp_path / "train.log"), "--json")
    assert (ran.code, ran.err) == (0, "")
    assert list(ran.json) == MAIN_KEYS
    assert ran.json["format"] == "megatron_log"
    assert ran.json["step_time_s"] == pytest.approx(2.0)
    assert (ran.json["gpus"], ran.json["global_batch"]) == (16, 128)
    assert ran.json["throughput_unit"] == "tokens/s"
    assert ran.json["throughput"] == pytest.approx(128 * 2048 / 2.0)


def test_people_read_what_holds_a_run_up_and_what_its_trace_suggests(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    trace = json.loads(kineto())
    shapes = {"Input Dims": [[32, 3, 224, 224], [64, 3, 7, 7]]}
    trace["traceEvents"].append(
        {"ph": "X", "cat": "cpu_op", "name": "aten::convolution", "pid": 1, "tid": 1,
         "ts": 1e6 + 1, "dur": 5, "args": shapes}
    )  # fmt: skip
    (tmp_path / "trace.json").write_text(json.dumps(trace))
    alone = run("trace", str(tmp_path / "trace.json"))
    assert alone.code == 0
    assert "medium: Beside loading, the GPU has nothing to do 25\xa0% of the time" in alone.out
    assert "see what the host does between" in alone.out
    assert "guess, high confidence: micro batch 32. The first convolution has" in alone.out
    (tmp_path / "train.log").write_text(megatron())
    several = run("trace", str(tmp_path)).out
    assert "\ntrace.json\nmedium: Beside loading" in several
    assert "\ntrain.log\n" not in several


def test_what_a_file_cannot_tell_is_null_and_never_zero(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    (tmp_path / "trace.json").write_text(kineto())
    said = run("trace", str(tmp_path / "trace.json"), "--json").json
    assert said["gpu_name"] == "NVIDIA A100-SXM4-80GB"
    assert said["gpu_busy_share"] == pytest.approx(0.75, abs=0.05)
    for key in ("global_batch", "throughput", "throughput_unit", "peak_memory_bytes"):
        assert said[key] is None
    (tmp_path / "train.log").write_text(megatron())
    said = run("trace", str(tmp_path / "train.log"), "--json").json
    assert [said[key] for key in MAIN_KEYS[2:5]] == [None, None, None]
    assert said["gpu_name"] is None


def test_a_file_in_words(run: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(kineto())
    ran = run("trace", str(tmp_path / "trace.json"))
    assert ran.code == 0
    for word in ("kineto_chrome_trace", "2 × NVIDIA A100-SXM4-80GB", "1.00\u00a0ms", "–"):
        assert word in ran.out
    assert "None" not in ran.out


def test_a_directory_of_unrelated_logs_gives_a_list_and_names_the_files_it_cannot_read(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    for number in range(17):
        (tmp_path / f"{number:02d}.log").write_text(megatron(1.0 + number))
    (tmp_path / "90.log").write_bytes(b"")
    (tmp_path / "91.json").write_bytes(PNG)
    (tmp_path / "92.pt").write_bytes(harmful(tmp_path / "marker"))
    ran = run("trace", str(tmp_path), "--json")
    assert ran.code == 0
    assert [one["step_time_s"] for one in ran.json] == pytest.approx([1.0 + n for n in range(17)])
    assert all(list(one) == MAIN_KEYS for one in ran.json)
    assert ran.err.count("not read:") == 3
    for name in ("90.log", "91.json", "92.pt"):
        assert name in ran.err
    assert not (tmp_path / "marker").exists()
    said = run("trace", str(tmp_path))
    assert said.code == 0
    assert "16.log" in said.out
    assert said.err == ran.err


def test_a_directory_of_bad_files_alone_is_an_error(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_bytes(PNG)
    (tmp_path / "b.json").write_bytes(b"")
    ran = run("trace", str(tmp_path), "--json")
    assert ran.code == 2
    assert ran.json["error"]["kind"] == "TraceError"
    assert "a.json" in ran.err
    assert "b.json" in ran.err


def rank_files(folder: Path, **changes: str) -> None:
    folder.mkdir(exist_ok=True)
    for rank in range(2):
        text = kineto().replace('"rank": 0', f'"rank": {rank}')
        for old, new in changes.items():
            text = text.replace(old, new)
        (folder / f"rank{rank}.json").write_text(text)


def test_the_workers_of_a_job_give_one_object_of_the_agreed_keys(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    rank_files(tmp_path)
    joined = run("trace", str(tmp_path), "--json").json
    assert list(joined) == MAIN_KEYS
    assert joined["gpus"] == 2
    assert joined == run("trace", str(tmp_path), "--job", "--json").json
    assert len(run("trace", str(tmp_path), "--each", "--json").json) == 2


@pytest.mark.parametrize("kind", ["zip", "gztar", "tar"])
def test_an_archive_of_workers_gives_the_same_object_as_their_directory(
    run: Callable[..., Ran], tmp_path: Path, kind: str
) -> None:
    rank_files(tmp_path / "job")
    packed = run(
        "trace", shutil.make_archive(str(tmp_path / "a"), kind, tmp_path / "job"), "--json"
    ).json
    assert packed.pop("format") == "kineto_multi_worker_archive"
    folder = run("trace", str(tmp_path / "job"), "--json").json
    assert folder.pop("format") == "kineto_chrome_trace"
    assert packed == folder


def test_a_bad_file_among_the_workers_is_named_and_warned_of(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    rank_files(tmp_path)
    (tmp_path / "rank9.json").write_bytes(PNG)
    ran = run("trace", str(tmp_path), "--json")
    assert (ran.code, ran.json["gpus"]) == (0, 2)
    assert ran.err.count("rank9.json: not read:") == 1
    assert any(text.startswith("Not read: 1 of 3 files") for text in ran.json["warnings"])


def test_one_file_in_a_directory_gives_one_object(run: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(megatron())
    alone = run("trace", str(tmp_path / "train.log"), "--json").json
    assert run("trace", str(tmp_path), "--json").json == alone
    assert run("trace", str(tmp_path), "--each", "--json").json == [alone]


def test_two_jobs_in_two_directories_are_two_runs(run: Callable[..., Ran], tmp_path: Path) -> None:
    rank_files(tmp_path / "a")
    rank_files(tmp_path / "b", A100="H100")
    found = run("trace", str(tmp_path), "--json").json
    assert [one["gpu_name"] for one in found] == ["NVIDIA A100-SXM4-80GB", "NVIDIA H100-SXM4-80GB"]
    assert [one["gpus"] for one in found] == [2, 2]
    forced = run("trace", str(tmp_path), "--job", "--json").json
    assert any("do not look like those of one job" in text for text in forced["warnings"])


def test_one_job_and_every_file_cannot_be_asked_for_together(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    ran = run("trace", str(tmp_path), "--job", "--each")
    assert ran.code == 2
    assert "not allowed with" in ran.err


BAD = {
    "empty": ("empty.log", b"", ["empty.log"]),
    "picture": ("trace.json", PNG, ["trace.json"]),
    "half": ("half.json", kineto()[: len(kineto()) // 2].encode(), ["half.json"]),
    "words": ("notes.txt", b"Dear diary, today I trained a network.\n" * 9, ["notes.txt"]),
    "bomb": ("trace.json.gz", bomb(), ["trace.json.gz", "200"]),
    "not a number": ("runs.csv", table("Llama-2-7B,A100-80GB,8,1,nan,64,2048,bf16").encode(),
                     ["runs.csv, row 2", "step_time_s", "nan"]),
    "endless": ("runs.csv", table("Llama-2-7B,A100-80GB,8,1,inf,64,2048,bf16").encode(),
                ["runs.csv, row 2", "inf"]),
    "table without rows": ("runs.csv", table().encode(), ["no rows"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_ends_with_2_and_a_message_that_names_it(
    name: str, run: Callable[..., Ran], tmp_path: Path
) -> None:
    file, content, words = BAD[name]
    (tmp_path / file).write_bytes(content)
    ran = run("trace", str(tmp_path / file), "--json")
    assert ran.code == 2
    error = ran.json["error"]
    assert error["kind"] in ("TraceError", "CutOffError")
    assert error["todo"]
    for word in words:
        assert word in ran.err
    assert run("trace", str(tmp_path / file)).err == ran.err


def test_a_saved_object_is_never_loaded(run: Callable[..., Ran], tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for name in ("run.pkl", "trace.json", "snapshot.pickle"):
        (tmp_path / name).write_bytes(harmful(marker))
        ran = run("trace", str(tmp_path / name))
        assert ran.code == 2
        assert "pickle" in ran.err
    assert not marker.exists()


def test_numbers_that_are_none_are_left_out_with_a_warning(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(kineto().replace('"totalGlobalMem": 85000000000', '"totalGlobalMem": NaN'))
    ran = run("trace", str(path), "--json")
    assert ran.code in (0, 2)
    assert "NaN" not in ran.out
    json.loads(ran.out, parse_constant=pytest.fail)


@pytest.mark.parametrize("path", ["nowhere.log", "nowhere/at/all", "\x1b[2Jevil"])
def test_a_file_that_is_not_there_is_said(
    path: str, run: Callable[..., Ran], tmp_path: Path
) -> None:
    ran = run("trace", str(tmp_path / path))
    assert ran.code == 2
    assert "\x1b" not in ran.err
    assert path.rsplit("/", maxsplit=1)[-1].replace("\x1b", "?") in ran.err


def test_an_empty_directory_is_said(run: Callable[..., Ran], tmp_path: Path) -> None:
    ran = run("trace", str(tmp_path))
    assert ran.code == 2
    assert "no files" in ran.err


def test_names_cannot_write_markup_or_control_the_terminal(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    path = tmp_path / "[red]a\x1b[2J[bold].log"
    path.write_text(megatron())
    ran = run("trace", str(path))
    assert ran.code == 0
    assert "[red]a" in ran.out
    assert "\x1b[2J" not in ran.out
