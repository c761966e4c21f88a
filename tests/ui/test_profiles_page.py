"""The page Profiles: files of runs are read, kept and advised from."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_apps import button, open_page, text_of

from advisor.advice import refit_worker
from advisor.store import Store
from advisor.testing.uploads import bad_files, profiler_trace

TABLE = b"""\
model,gpu_name,gpus,step_time_s,global_batch,precision
Llama-2-7B,A100-80GB,8,1.25,64,bf16
ResNet-50,T4,1,0.4,128,fp16
"""
STATE = b'{"global_step": 100, "max_steps": 100, "log_history": []}'


@pytest.fixture(autouse=True)
def _own_store(engine_copy: Path) -> None:
    """Keep the runs of these tests to themselves."""


def upload(files: dict[str, bytes]) -> AppTest:
    test = open_page("profiles")
    given = [(name, content, "application/octet-stream") for name, content in files.items()]
    return test.file_uploader[0].set_value(given).run()


def told(test: AppTest, title: str) -> list[str]:
    """Return what the cards say under a title."""
    starts = f":small[:gray[{title}]]  \n"
    return [one.value.removeprefix(starts) for one in test.markdown if one.value.startswith(starts)]


def fill_in(test: AppTest, number: int = 0) -> AppTest:
    test.text_input(key=f"model_{number}").set_value("resnet-50")
    test.number_input(key=f"batch_{number}").set_value(32)
    return test.run()


def own_runs() -> list[str]:
    with Store.open() as store:
        return list(store.profiles(origin="user")["model"])


def test_without_files_it_says_what_a_file_gives_and_shows_the_store() -> None:
    said = text_of(open_page("profiles"))
    assert "Each file becomes a card" in said
    assert "measured runs, 0 of your own" in said


def test_a_trace_becomes_a_card_of_what_it_tells_and_what_it_does_not() -> None:
    test = upload({"run.json": profiler_trace()})
    assert "PyTorch profiler trace" in text_of(test)
    assert told(test, "Step time") == ["**100\xa0ms**"]
    assert told(test, "Busy") == ["**80.0\xa0%**"]
    assert "1 × Tesla V100" in told(test, "Accelerators")[0].replace("\\", "")
    for title in ("Model", "Peak memory", "Global batch", "Throughput"):
        assert told(test, title)[0].startswith(":gray[not told]")
    assert "Bottleneck" in text_of(test)


def test_guesses_are_marked_as_guesses() -> None:
    test = upload({"run.json": profiler_trace()})
    assert ":orange-badge[Guess: fp32]" in told(test, "Precision")[0]
    assert test.selectbox(key="precision_0").label == "Precision :orange[(guess)]"
    assert test.selectbox(key="precision_0").value == "fp32"


def test_what_is_missing_is_asked_for_in_the_words_of_the_page() -> None:
    test = upload({"run.json": profiler_trace()})
    said = text_of(test)
    assert "does not say the model and the global batch" in said
    assert "Fill in Model and Global batch" in said
    assert "--" not in said
    assert button(test, "Keep").disabled
    assert not button(fill_in(test), "Keep").disabled


def test_a_model_that_is_not_known_is_said_on_its_card() -> None:
    test = upload({"run.json": profiler_trace()})
    test.text_input(key="model_0").set_value("/etc/config.json").run()
    assert "no file is read here" in text_of(test).replace("\\", "").lower()
    assert button(test, "Keep").disabled


def test_an_accelerator_nobody_knows_can_be_chosen() -> None:
    device = {"id": 0, "name": "Fancy GPU 3000", "totalGlobalMem": 16e9}
    test = fill_in(upload({"run.json": profiler_trace(deviceProperties=[device])}))
    assert "unknown accelerator" in text_of(test).lower()
    test.selectbox(key="accelerator_0").set_value("V100-16GB").run()
    button(test, "Keep").click().run()
    with Store.open() as store:
        assert list(store.profiles(origin="user")["accelerator"]) == ["V100-16GB"]


def test_keeping_says_whether_the_run_was_new() -> None:
    test = fill_in(upload({"run.json": profiler_trace()}))
    button(test, "Keep").click().run()
    assert "Kept one run: new in your store" in text_of(test)
    assert own_runs() == ["resnet-50"]
    assert "1 of your own" in text_of(test)
    button(test, "Keep").click().run()
    assert "One run was in your store already" in text_of(test)
    assert len(own_runs()) == 1


def test_a_kept_run_is_told_to_be_learnt_and_learnt_when_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[bool] = []
    monkeypatch.setattr(refit_worker, "start", lambda: started.append(True))
    assert "has not learnt" not in text_of(open_page("profiles"))
    test = fill_in(upload({"run.json": profiler_trace()}))
    button(test, "Keep").click().run()
    assert "has not learnt the newest changes" in text_of(test)
    assert started == []
    button(test, "Learn now").click().run()
    assert started == [True]


def test_the_runs_of_a_table_are_kept_together() -> None:
    test = upload({"runs.csv": TABLE})
    assert "2 runs" in text_of(test)
    assert list(test.dataframe[0].value["Model"]) == ["Llama-2-7B", "ResNet-50"]
    button(test, "Keep 2 runs").click().run()
    assert sorted(own_runs()) == ["Llama-2-7B", "ResNet-50"]


def test_all_files_that_say_enough_are_kept_at_once() -> None:
    test = fill_in(upload({"run.json": profiler_trace(), "runs.csv": TABLE, "empty.json": b""}))
    button(test, "Keep all").click().run()
    assert len(own_runs()) == 3


def test_advise_from_this_asks_for_its_job_calibrated_by_it() -> None:
    test = fill_in(upload({"run.json": profiler_trace()}))
    assert test.text_input(key="amount_0").value == "100,000 steps"
    button(test, "Advise from this").click().run()
    said = text_of(test)
    assert "Calibrated by one of your runs" in said
    assert "batch 32 · fp32" in test.query_params["job"]
    assert "steps" in test.query_params["job"]
    with Store.open() as store:
        (whole,) = store.profiles(origin="user")["content_hash"]
    assert test.query_params["runs"] == whole[:12]


def test_an_amount_that_is_not_understood_is_said_and_nothing_is_kept() -> None:
    test = fill_in(upload({"run.json": profiler_trace()}))
    test.text_input(key="amount_0").set_value("a while").run()
    button(test, "Advise from this").click().run()
    assert "to train" in text_of(test)
    assert own_runs() == []


def test_a_file_without_a_step_time_says_why_it_cannot_be_kept() -> None:
    test = upload({"trainer_state.json": STATE})
    assert "no step time" in text_of(test) or "Not read" in text_of(test)
    assert own_runs() == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("empty.json", "empty file"),
        ("picture.json", "no trace or log that the advisor knows"),
        ("bomb.json.gz", "bomb.json.gz"),
        ("run.pt", "pickle"),
        ("price.csv", "row 2, column usd_per_h"),
        ("column.csv", "unknown column “frobs”"),
    ],
)
def test_a_bad_file_is_refused_in_words(tmp_path: Path, name: str, expected: str) -> None:
    marker = tmp_path / "marker"
    test = upload({name: bad_files(marker)[name]})
    said = text_of(test).replace("\\", "")
    assert ":red-badge[Not read]" in said
    assert expected in said
    assert "What to do" in said
    assert not marker.exists()


def test_three_bad_files_of_twenty_leave_the_others_alone(tmp_path: Path) -> None:
    bad = bad_files(tmp_path / "marker")
    files = {f"run{n}.json": profiler_trace() for n in range(17)}
    files |= {name: bad[name] for name in ("empty.json", "picture.json", "run.pt")}
    test = upload(files)
    said = text_of(test)
    assert "**20 files**: 17 read, :red[3 not]" in said
    assert told(test, "Step time") == ["**100\xa0ms**"] * 17
    assert said.count(":red-badge[Not read]") == 3


def test_a_file_is_taken_off_the_list_and_the_list_is_cleared() -> None:
    test = upload({"a.json": profiler_trace(), "b.json": profiler_trace()})
    test.button(key="drop_upload_0").click().run()
    assert "**1 file**" in text_of(test)
    button(test, "Clear the list").click().run()
    assert "Each file becomes a card" in text_of(test)


def rank(number: int) -> bytes:
    info = {"backend": "nccl", "rank": number, "world_size": 4}
    return profiler_trace(distributedInfo=info)


def test_ranks_that_are_dropped_together_become_one_card() -> None:
    files = {f"rank{n}.json": rank(n) for n in (0, 1, 3)} | {"runs.csv": TABLE}
    test = upload(files)
    said = text_of(test).replace("\\", "")
    assert "**2 files**" in said
    assert "3 files: rank0.json …" in said
    assert "4 × Tesla V100" in told(test, "Accelerators")[0].replace("\\", "")
    assert "Ranks 2 of 4 are missing" in said


def test_ranks_that_are_dropped_one_after_the_other_stay_apart() -> None:
    test = upload({"rank0.json": rank(0)})
    test.file_uploader[0].set_value([("rank1.json", rank(1), "")]).run()
    assert told(test, "Step time") == ["**100\xa0ms**"] * 2


def test_more_files_join_those_on_the_list() -> None:
    test = upload({"a.json": profiler_trace()})
    test.file_uploader[0].set_value([("runs.csv", TABLE, "text/csv")]).run()
    assert "**2 files**" in text_of(test)


def test_files_stay_when_the_page_changes() -> None:
    test = fill_in(upload({"a.json": profiler_trace()}))
    test.switch_page("advisor/ui/pages/compare.py").run()
    test.switch_page("advisor/ui/pages/profiles.py").run()
    assert test.number_input(key="batch_0").value == 32


def test_names_of_files_and_models_are_escaped() -> None:
    table = TABLE.replace(b"Llama-2-7B", b"<b>**x**</b>")
    said = text_of(upload({"<script>[x](http://y).csv": table.replace(b"ResNet-50", b"$x$")}))
    assert "<script>" not in said.replace("\\<", "")
    assert "[x](http" not in said
