"""The seed tables: read once, replaced when they change, explained when they are bad."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.core.errors import StoreError
from advisor.core.paths import TABLES_DIR
from advisor.store import SeedResult, Store, seed, seeding
from advisor.testing.store_runs import run

HEAD = "model,family,accelerator,accelerators,step_time_s,layers,sample_size,source,notes"
ROWS = [
    "ResNet-50,cnn,V100,8,0.31,,224,paper,",
    "BERT,encoder,A100,64,1.5,24,512,paper,table 3",
    '"GPT-2, large",language,A100,16,2.25,36.0,1024,lab,',
]
SOURCES = (
    "source,url,licence,notes,rows\n"
    "paper,https://paper.example,CC-BY-4.0,first author only,2\n"
    "lab,,,,1\n"
)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    directory = tmp_path / "tables"
    directory.mkdir()
    write(directory)
    return directory


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        yield store


def write(directory: Path, head: str = HEAD, rows: list[str] = ROWS) -> None:
    (directory / "runs.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    (directory / "sources.csv").write_text(SOURCES, encoding="utf-8")


def test_the_rows_come_in_with_their_sources(store: Store, tables: Path) -> None:
    assert seed(store, tables) == SeedResult(added=3, removed=0, kept=0)
    frame = store.profiles().set_index("model")
    assert set(frame["origin"]) == {"seed"}
    assert frame.loc["GPT-2, large", "layers"] == 36
    assert frame["layers"].isna()["ResNet-50"]
    assert frame.loc["BERT", ["url", "licence"]].tolist() == ["https://paper.example", "CC-BY-4.0"]
    assert frame.loc["BERT", "notes"] == "table 3"
    assert frame.loc["ResNet-50", "notes"] == "first author only"


def test_the_second_time_reads_no_rows(
    store: Store, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed(store, tables)
    monkeypatch.setattr(seeding, "_read_runs", None)
    assert seed(store, tables) == SeedResult(added=0, removed=0, kept=3)


def test_a_changed_table_replaces_seeded_runs_only(store: Store, tables: Path) -> None:
    seed(store, tables)
    store.add([run(1)])
    write(tables, rows=[*ROWS[1:], "VGG,cnn,T4,1,0.9,,224,lab,"])
    assert seed(store, tables) == SeedResult(added=1, removed=1, kept=2)
    assert sorted(store.profiles()["model"]) == ["BERT", "GPT-2, large", "VGG", run(1).model]


def test_a_changed_digit_is_a_change(store: Store, tables: Path) -> None:
    seed(store, tables)
    write(tables, rows=[ROWS[0].replace("0.31", "0.32"), *ROWS[1:]])
    assert seed(store, tables) == SeedResult(added=1, removed=1, kept=2)


def test_other_tables_of_runs_are_read_too(store: Store, tables: Path) -> None:
    (tables / "runs_more.csv").write_text(f"{HEAD}\nVGG,cnn,T4,1,0.9,,224,lab,\n")
    (tables / "model_facts.csv").write_text("anything\n")
    assert seed(store, tables).added == 4


def test_a_byte_order_mark_is_no_part_of_a_name(store: Store, tables: Path) -> None:
    path = tables / "runs.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert seed(store, tables).added == 3


def test_without_tables_nothing_is_done(store: Store, tmp_path: Path) -> None:
    nothing = SeedResult(added=0, removed=0, kept=0)
    assert seed(store, tmp_path / "absent") == nothing
    assert store.seed_hash() == ""


@pytest.mark.parametrize(
    ("head", "row", "where", "what"),
    [
        (HEAD, "VGG,cnn,T4,1,fast,,224,lab,", "row 5, column step_time_s", "fast"),
        (HEAD, "VGG,cnn,T4,1,-1,,224,lab,", "row 5, column step_time_s", "greater than 0"),
        (HEAD, "VGG,cnn,T4,1,nan,,224,lab,", "row 5, column step_time_s", "finite"),
        (HEAD, "VGG,cnn,T4,1,1,2.5,224,lab,", "row 5, column layers", "2.5"),
        (HEAD, "VGG,cnn,T4,1,,,224,lab,", "row 5, column step_time_s", "required"),
        (HEAD, "VGG,animal,T4,1,1,,224,lab,", "row 5, column family", "animal"),
        (HEAD, "VGG,cnn,T4,1,1,,224,nobody,", "row 5, column source", "sources.csv"),
        (HEAD, "VGG,cnn,T4,1,1,,224,,", "row 5, column source", "sources.csv"),
        (HEAD, "VGG,cnn,T4,1", "row 5", "4 cells"),
        (HEAD, 'VGG,"cnn"x,T4,1,1,,224,lab,', "row 5", "no CSV"),
        (HEAD.replace("layers", "layer"), ROWS[1], "row 3, column layer", "Did you mean layers"),
    ],
)
def test_a_bad_row_is_named_and_nothing_changes(
    store: Store, tables: Path, *, head: str, row: str, where: str, what: str
) -> None:
    seed(store, tables)
    before = store.data_hash()
    write(tables, head, [*ROWS, row])
    with pytest.raises(StoreError) as caught:
        seed(store, tables)
    assert caught.value.where == f"{tables / 'runs.csv'}, {where}"
    assert what in str(caught.value)
    assert store.data_hash() == before


@pytest.mark.parametrize(
    ("content", "where", "what"),
    [
        (None, "", "No such file"),
        (b"source,url\npaper,\nlab,\npaper,x\n", ", row 4, column source", "twice"),
        (b"source,collected\npaper,soon\n", ", row 2, column collected", "soon"),
        (b"source,url\npaper,\nlab,\xff\n", ", row 3", "UTF-8"),
    ],
)
def test_a_bad_table_of_sources_is_named(
    store: Store, tables: Path, content: bytes | None, where: str, what: str
) -> None:
    path = tables / "sources.csv"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        seed(store, tables)
    assert caught.value.where == f"{path}{where}"
    assert what in str(caught.value)
    assert store.count() == 0


def test_the_tables_of_the_project_can_be_read(store: Store) -> None:
    if not (TABLES_DIR / "profiles" / "runs.csv").exists():
        pytest.skip("the project's own tables are not there")
    result = seed(store)
    assert result.added == store.count(origin="seed") > 0
    assert seed(store) == SeedResult(added=0, removed=0, kept=result.added)
