"""Reading the user's lists: every bad cell is named, nothing hostile passes, nothing is lost."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog.own import (
    CREDITS,
    DISCOUNTS,
    MACHINES,
    TABLES,
    OwnTable,
    csv_text,
    known,
    parse,
    parse_any,
    read,
    save,
    template,
)
from advisor.catalog.own.cells import LONGEST_NAME, MARKETS
from advisor.catalog.own.links import PCIE_BYTES_PER_S, link_of
from advisor.catalog.own.parse import MOST_BYTES, MOST_ROWS
from advisor.core.errors import CatalogError, InvalidInputError
from advisor.core.paths import data_dir
from advisor.testing.own_lists import BOX, LAB, machines_csv

TOMORROW = (dt.datetime.now(tz=dt.UTC).date() + dt.timedelta(days=1)).isoformat()


def one_problem(content: str | bytes, table: OwnTable = MACHINES) -> str:
    raw = content.encode() if isinstance(content, str) else content
    parsed = parse(raw, table, known())
    (problem,) = parsed.problems
    with pytest.raises(InvalidInputError):
        parsed.checked("file")
    return str(problem)


def test_a_list_of_machines_is_read_with_aliases_and_empty_cells() -> None:
    parsed = parse(machines_csv(LAB, BOX).encode(), MACHINES, known())
    assert parsed.problems == ()
    lab, box = parsed.rows
    assert lab == {
        "name": "lab-h100", "accelerator": "H100", "accelerators": 8.0, "usd_per_h": 9.5,
        "available": 4.0, "vcpus": 192.0, "memory_gb": 2048.0, "link": "NVLink",
        "network_gbit_per_s": 400.0, "region": "eu-lab", "as_of": dt.date(2026, 7, 1),
    }  # fmt: skip
    assert box["accelerator"] == "RTX-4090"
    assert box["vcpus"] is box["link"] is box["region"] is None


def test_columns_may_stand_in_any_order_and_optional_ones_be_missing() -> None:
    text = "USD per h,Name,Available,Accelerator,Accelerators\n9.5,lab,2,A100-80GB,8\n\n"
    parsed = parse(text.encode("utf-8-sig"), MACHINES, known())
    assert parsed.problems == ()
    assert parsed.rows[0]["usd_per_h"] == 9.5


@pytest.mark.parametrize("table", list(TABLES.values()), ids=list(TABLES))
def test_every_template_is_a_list_without_problems(table: OwnTable) -> None:
    parsed = parse_any(template(table).encode(), known())
    assert parsed.table is table
    assert parsed.problems == ()
    assert len(parsed.rows) == 1


@pytest.mark.parametrize(
    ("cell", "with_", "said"),
    [
        ("9.50", "NaN", "row 2, column usd_per_h: “NaN” is not a number."),
        ("9.50", "inf", "row 2, column usd_per_h: “inf” is not a number."),
        ("9.50", "-9.5", "row 2, column usd_per_h: -9.5 is not between 0 and 2,000 USD/h."),
        ("9.50", "2001", "row 2, column usd_per_h: 2001 is not between"),
        ("9.50", "1e9", "row 2, column usd_per_h: 1e9 is not between"),
        ("9.50", "", "row 2, column usd_per_h: the cell is empty. Give price of one machine"),
        ("9.50", "=9+1", "row 2, column usd_per_h: “=9+1” is a formula. Write its value."),
        ("9.50", "nine", "row 2, column usd_per_h: “nine” is not a number."),
        (",8,", ",0,", "row 2, column accelerators: 0 is not between 1 and 128 accelerators."),
        (",8,", ",1.5,", "row 2, column accelerators: 1.5 is not a whole number."),
        (",4,", ",1e9,", "row 2, column available: 1e9 is not between 1 and 20,000 machines."),
        ("H100,", "H1000,", "row 2, column accelerator: unknown accelerator “H1000”. Did you"),
        ("lab-h100", "@cmd", "row 2, column name: “@cmd” is a formula."),
        ("lab-h100", "a~b", "row 2, column name: “a~b” cannot be a name."),
        ("lab-h100", "own/a", "row 2, column name: “own/a” cannot be a name."),
        ("lab-h100", "-a", "row 2, column name: “-a” cannot be a name."),
        ("lab-h100", "x" * 61, "row 2, column name: “xxx"),
        ("eu-lab", "<b>", "row 2, column region: “<b>” cannot be a name."),
        ("NVLink", "xGMI", "row 2: H100 has no link “xGMI”. Write NVLink4 or PCIe"),
        ("400", "0.5", "row 2, column network_gbit_per_s: 0.5 is not between 1"),
        ("2026-07-01", "1.7.2026", "row 2, column as_of: “1.7.2026” is no date. Write year-"),
        ("2026-07-01", TOMORROW, "is not a day from 2000 until today."),
    ],
)  # fmt: skip
def test_a_bad_cell_is_named_with_what_to_do(cell: str, with_: str, said: str) -> None:
    assert LAB.count(cell) == 1
    assert said in one_problem(machines_csv(LAB.replace(cell, with_)))


@pytest.mark.parametrize(
    ("text", "table", "said"),
    [
        ("cloud,market,discount_percent\naws,spot,0\n", DISCOUNTS, "0 is not between 0.01 and 99"),
        ("cloud,market,discount_percent\naws,spot,100\n", DISCOUNTS, "100 is not between"),
        ("cloud,market,discount_percent\nasw,spot,5\n", DISCOUNTS, "unknown cloud “asw”. Did you"),
        ("cloud,market,discount_percent\nown,spot,5\n", DISCOUNTS, "unknown cloud “own”"),
        ("cloud,market,discount_percent\naws,spt,5\n", DISCOUNTS, "Did you mean spot?"),
        ("cloud,credits_usd\naws,-1\n", CREDITS, "-1 is not between"),
        ("cloud,credits_usd\naws,1\nAWS,2\n", CREDITS, "row 3, column cloud: “aws” stands in"),
    ],
)  # fmt: skip
def test_a_bad_term_is_named(text: str, table: OwnTable, said: str) -> None:
    assert said in one_problem(text, table)


def test_a_name_that_stands_twice_is_named() -> None:
    said = one_problem(machines_csv(LAB, BOX, LAB.replace("lab-h100", "LAB-H100")))
    assert said.startswith("row 4, column name: “LAB-H100” stands in row 2 too.")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"\n\n , \n", "the file is empty"),
        (b"name;accelerator;usd_per_h\n", "it separates by semicolons, not commas"),
        ("name,accelerator\nMüller,H100\n".encode("latin-1"), "the file is not UTF-8 (byte 19)"),
        ("name\n".encode("utf-16"), "the file is not UTF-8 (byte 1)"),
        (b"name\0\n", "zero bytes"),
        (b'name,"accel\n', "the file is no CSV"),
        (b"x" * (MOST_BYTES + 1), "larger than 1 MB"),
        (b"name\n" + b"a\n" * (MOST_ROWS + 1), f"more than {MOST_ROWS} rows"),
        (machines_csv(LAB + ",surplus").encode(), "row 2: the row has 12 cells, the header 11."),
        (machines_csv(LAB).replace(",link", ",price").encode(), "there is no column “price”."),
        (machines_csv(LAB).replace("usd_per_h", "usd_perh").encode(), "Did you mean usd_per_h?"),
        (machines_csv(LAB).replace("vcpus", "name").encode(), "column “name” stands twice."),
    ],
)  # fmt: skip
def test_a_file_that_is_no_list_is_refused(content: bytes, said: str) -> None:
    parsed = parse(content, MACHINES, known())
    assert parsed.rows == ()
    assert said in str(parsed.problems[0])


def test_a_missing_column_is_named_with_its_meaning() -> None:
    said = one_problem("name,accelerator,accelerators,usd_per_h\nlab,H100,8,9\n")
    assert said == "row 1: column available is missing. Add it: machines that you can use at once."


def test_the_header_says_which_list_it_is() -> None:
    parsed = parse_any(b"cloud,discount\naws,5\n", known())
    assert parsed.table.name in ("discounts", "credits")
    assert parse_any(b"cloud,discount_percent\naws,5\n", known()).table is DISCOUNTS
    with pytest.raises(InvalidInputError, match="no column is known"):
        parse_any(b"a,b\n1,2\n", known())
    with pytest.raises(InvalidInputError, match="semicolons"):
        parse_any(b"name;accelerator\n", known())


def test_the_error_names_the_first_problem_and_counts_the_rest() -> None:
    bad = machines_csv(LAB.replace("9.50", "free"), BOX.replace("0.80", "-1"))
    with pytest.raises(InvalidInputError) as caught:
        parse(bad.encode(), MACHINES, known()).checked("prices.csv")
    assert caught.value.where == "prices.csv, row 2, column usd_per_h"
    assert caught.value.todo.endswith("1 more problem.")


accelerators = st.sampled_from(sorted(known().spellings.values()))
names = st.from_regex(rf"\A[A-Za-z0-9][A-Za-z0-9 ._+-]{{0,{LONGEST_NAME - 3}}}[a-z]\Z")
whole = st.integers(1, 128).map(float)
machine_rows = st.lists(
    st.fixed_dictionaries(
        {
            "name": names, "accelerator": accelerators, "accelerators": whole,
            "usd_per_h": st.floats(0.01, 2000), "available": whole,
            "vcpus": st.none() | whole, "memory_gb": st.none() | st.floats(1, 65_536),
            "link": st.sampled_from([None, "PCIe"]),
            "network_gbit_per_s": st.none() | st.floats(1, 20_000),
            "region": st.none() | names,
            "as_of": st.none() | st.dates(dt.date(2000, 1, 1), dt.date(2026, 11, 30)),
        }
    ),
    max_size=6, unique_by=lambda row: str(row["name"]).casefold(),
)  # fmt: skip


@given(machine_rows)
def test_what_is_written_is_read_back(rows: list[dict[str, object]]) -> None:
    parsed = parse(csv_text(MACHINES, rows).encode(), MACHINES, known())
    assert parsed.problems == ()
    again = parse(csv_text(MACHINES, parsed.rows).encode(), MACHINES, known())
    assert again.rows == parsed.rows
    for row, back in zip(rows, parsed.rows, strict=True):
        assert {n: v for n, v in row.items() if not isinstance(v, float)} == {
            n: v for n, v in back.items() if not isinstance(row[n], float)
        }
        for name, value in row.items():
            if isinstance(value, float):
                assert back[name] == pytest.approx(value)


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_no_content_does_anything_but_parse_or_explain(content: bytes) -> None:
    for table in TABLES.values():
        parsed = parse(content, table, known())
        assert parsed.rows or parsed.problems or b"," in content or content.strip()
        for problem in parsed.problems:
            assert problem.what
            assert problem.todo


cells = st.text(alphabet="0123456789.,-+eE naif=@\"'\n;H100é", max_size=12)


@given(st.lists(cells, min_size=11, max_size=11))
def test_every_row_is_read_or_explained(row: list[str]) -> None:
    quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in row)
    parsed = parse(machines_csv(quoted).encode(), MACHINES, known())
    given_ = any(cell.strip() for cell in row)
    assert len(parsed.rows) + (len(parsed.problems) > 0) == given_


def test_a_list_is_saved_whole_and_an_empty_one_removed() -> None:
    rows = parse(machines_csv(LAB).encode(), MACHINES, known()).rows
    save(MACHINES, rows)
    assert read(MACHINES).rows == rows
    assert [path.name for path in data_dir().iterdir()] == [MACHINES.file]
    save(MACHINES, [])
    assert list(data_dir().iterdir()) == []
    assert read(MACHINES).rows == ()


def test_a_list_that_cannot_be_written_leaves_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = parse(machines_csv(LAB).encode(), MACHINES, known()).rows
    save(MACHINES, rows)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CatalogError, match="No space left") as caught:
        save(MACHINES, parse(machines_csv(BOX).encode(), MACHINES, known()).rows)
    assert caught.value.where == MACHINES.file
    assert read(MACHINES).rows == rows
    assert [path.name for path in data_dir().iterdir()] == [MACHINES.file]


@pytest.mark.parametrize(
    ("accelerator", "wanted", "link", "bandwidth"),
    [
        ("H100", "", "NVLink4", 450e9),
        ("H100", "nvlink", "NVLink4", 450e9),
        ("H100", "PCIe", "PCIe 5", PCIE_BYTES_PER_S[5]),
        ("H100-PCIe", "", "PCIe 5", PCIE_BYTES_PER_S[5]),
        ("H100-PCIe", "NVLink bridge", "NVLink bridge", 300e9),
        ("RTX-4090", "pcie 4", "PCIe 4", PCIE_BYTES_PER_S[4]),
        ("H100", "PCIe 3", "PCIe 3", PCIE_BYTES_PER_S[3]),
        ("H100-PCIe", "PCIe gen4 x16", "PCIe 4", PCIE_BYTES_PER_S[4]),
        ("A100-80GB-PCIe", "PCIe 5", "PCIe 4", PCIE_BYTES_PER_S[4]),
        ("TPU-v4", "", "ICI", 300e9),
        ("Ascend-910", "", "PCIe 4", PCIE_BYTES_PER_S[4]),
    ],
)
def test_the_link_of_a_machine_is_what_its_accelerator_has(
    accelerator: str, wanted: str, link: str, bandwidth: float
) -> None:
    assert link_of(known().accelerators, accelerator, wanted) == (link, bandwidth)


@pytest.mark.parametrize("wanted", ["Ω", "PCIe 2", "NVLink 3", "xGMI"])
def test_a_link_that_an_accelerator_cannot_have_is_refused(wanted: str) -> None:
    with pytest.raises(InvalidInputError, match="has no link"):
        link_of(known().accelerators, "H100", wanted)


def test_markets_are_those_of_the_domain() -> None:
    assert list(MARKETS) == ["on-demand", "spot", "reserved-1y", "reserved-3y", "savings-plan",
                             "capacity-block"]  # fmt: skip


def test_a_machine_that_is_free_costs_next_to_nothing_so_that_plans_on_it_have_an_order() -> None:
    parsed = parse(machines_csv(LAB.replace("9.50", "0")).encode(), MACHINES, known())
    assert parsed.problems == ()
    assert parsed.rows[0]["usd_per_h"] == 0.01
