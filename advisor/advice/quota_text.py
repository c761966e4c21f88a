"""Quotas as a person pastes them: what a cloud's tool prints, or a table of types and counts."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from advisor.advice.quota_names import meaning_of, names_accelerators
from advisor.core.errors import InvalidInputError, UnknownNameError
from advisor.domain import Quota

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain.quota import QuotaMarket

WHERE: Final = "quota"
MOST_CHARACTERS: Final = 2_000_000
MOST_ROWS: Final = 5_000
MOST_SHOWN: Final = 12
LONGEST_SHOWN: Final = 60
HOW: Final = (
    "Paste what “aws service-quotas list-service-quotas --service-code ec2”, “gcloud compute "
    "regions describe REGION --format=json” or “az vm list-usage -l REGION” prints, or rows of "
    "type,count such as p4d.24xlarge,4."
)
_MARKETS: Final[dict[str, QuotaMarket]] = {
    "": "any", "any": "any", "spot": "spot", "on-demand": "not_spot", "not-spot": "not_spot",
}  # fmt: skip
_ARN_REGION: Final = re.compile(r"^arn:[\w-]+:servicequotas:([\w-]+):")


@dataclass(frozen=True, slots=True)
class Given:
    """One row: a quota's name, what is left of it, and where it holds."""

    name: str
    left: float
    region: str = ""
    market: str = ""


@dataclass(frozen=True, slots=True)
class ReadQuotas:
    """Quotas of machines in the catalog, and names of accelerators' quotas that are not known."""

    quotas: tuple[Quota, ...]
    unknown: tuple[str, ...] = ()


def read_quotas(text: str, catalog: Catalog) -> ReadQuotas:
    """Read quotas of one or more clouds.

    What is in use already is taken off where the tool says it. Quotas of other things than
    machines with accelerators are passed over in a tool's output; in a table every type must be
    known.

    Raises
    ------
    InvalidInputError
        If nothing in it limits a machine of the catalog, or a row cannot be read; unknown types
        are all named.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidInputError(
            f"the text is longer than {MOST_CHARACTERS:,} characters.", where=WHERE, todo=HOW
        )
    stripped = text.strip()
    if not stripped:
        return ReadQuotas(())
    if stripped[0] in "[{":
        given, strict = _from_json(stripped), False
    else:
        given, strict = _from_table(stripped), True
    return _resolved(given, catalog, strict=strict)


def quota_table(quotas: Iterable[Quota]) -> str:
    """Return quotas as rows that `read_quotas` reads; the names of JSON stay what they limit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for quota in quotas:
        writer.writerow(
            [quota.name, f"{quota.most:.15g}", *([quota.region] if quota.region else [])]
        )
    return text.getvalue().strip()


def _resolved(given: Sequence[Given], catalog: Catalog, *, strict: bool) -> ReadQuotas:
    quotas, unknown = [], []
    regions = _regions(catalog)
    meanings = {name: meaning_of(name, catalog) for name in {row.name for row in given}}
    for row in given:
        meaning = meanings[row.name]
        if meaning is None:
            if strict or (names_accelerators(row.name) and row.left > 0):
                unknown.append(row.name)
            continue
        if row.region and row.region not in regions[meaning.cloud]:
            if strict:
                raise UnknownNameError("region", row.region, regions[meaning.cloud], where=WHERE)
            continue  # a tool may be asked of a region without machines: it then limits none
        quotas.append(
            Quota(
                name=row.name,
                cloud=meaning.cloud,
                region=row.region,
                market=_MARKETS[row.market] if row.market else meaning.market,
                instance_types=meaning.instance_types,
                unit=meaning.unit,
                most=row.left,
            )
        )
    if unknown and (strict or not quotas):
        raise InvalidInputError(
            f"unknown {'type' if len(unknown) == 1 else 'types'}: {_listed(unknown)}.",
            where=WHERE,
            todo="Name instance types or accelerators of the catalog, or a quota of AWS, Google "
            "Cloud or Azure by its own name.",
        )
    if not quotas:
        raise InvalidInputError(
            "nothing in it limits machines with accelerators.", where=WHERE, todo=HOW
        )
    return ReadQuotas(tuple(quotas), tuple(dict.fromkeys(unknown)))


def _regions(catalog: Catalog) -> dict[str, list[str]]:
    """Return the regions with offers by cloud; of no cloud in particular, those of all."""
    offers = catalog.offers[["cloud", "region"]].astype(str).drop_duplicates()
    own = {str(cloud): sorted(rows) for cloud, rows in offers.groupby("cloud")["region"]}
    return own | {"": sorted(set(offers["region"]))}


def _from_table(text: str) -> list[Given]:
    rows = []
    lines = text.splitlines()
    if len(lines) > MOST_ROWS:
        raise InvalidInputError(f"there are more than {MOST_ROWS:,} rows.", where=WHERE, todo=HOW)
    for number, line in enumerate(lines, 1):
        try:
            cells = next(csv.reader([line], delimiter=_separator(line), strict=True), [])
        except csv.Error as error:
            raise InvalidInputError(
                f"not a row ({error}).", where=f"{WHERE}, row {number}"
            ) from None
        cells = [cell.strip() for cell in cells]
        if not any(cells) or (number == 1 and cells[0].casefold() == "type"):
            continue
        rows.append(_row(cells, f"{WHERE}, row {number}"))
    return rows


def _separator(line: str) -> str:
    return next((mark for mark in ("\t", ";") if mark in line and "," not in line), ",")


def _row(cells: list[str], where: str) -> Given:
    if not 2 <= len(cells) <= 4 or not cells[0]:
        raise InvalidInputError(
            f"“{_short(', '.join(cells))}” is not type,count.",
            where=where,
            todo="Write p4d.24xlarge,4 and, if you like, a region and on-demand or spot.",
        )
    name, count, region, market = [*cells, "", ""][:4]
    market = market.casefold().replace("_", "-")
    if market not in _MARKETS:
        raise UnknownNameError("market", _short(market), ["on-demand", "spot"], where=where)
    return Given(name, _amount(count, where), region, market)


def _from_json(text: str) -> list[Given]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"this is not JSON ({error}).", where=WHERE, todo=HOW) from None
    given = list(_of_any(content, ""))
    if not given:
        raise InvalidInputError("no quotas are found in it.", where=WHERE, todo=HOW)
    return given


def _of_any(content: Any, region: str) -> Iterable[Given]:
    """Yield the quotas of an object of one of the tools, or of a list of them."""
    if isinstance(content, list):
        for one in content[:MOST_ROWS]:
            yield from _of_any(one, region)
        return
    if not isinstance(content, Mapping):
        return
    if isinstance(content.get("Quotas"), list):  # AWS
        yield from _of_any(content["Quotas"], region)
    elif isinstance(content.get("quotas"), list):  # Google Cloud: a region with its quotas
        yield from _of_any(content["quotas"], str(content.get("name") or ""))
    elif isinstance(content.get("value"), list):  # Azure, as its interface answers
        yield from _of_any(content["value"], str(content.get("location") or region))
    elif "QuotaName" in content:
        found = _ARN_REGION.match(str(content.get("QuotaArn", "")))
        limit = {"limit": content.get("Value")}  # what is in use it does not say
        yield from _left(str(content["QuotaName"]), limit, "", found[1] if found else "")
    elif "metric" in content:
        yield from _left(str(content["metric"]), content, "usage", region)
    elif "currentValue" in content and isinstance(content.get("name"), Mapping):
        place = str(content.get("location") or region).replace(" ", "").casefold()
        yield from _left(str(content["name"].get("value")), content, "currentValue", place)


def _left(name: str, content: Mapping[str, Any], used: str, region: str) -> Iterable[Given]:
    limit = _amount(content.get("limit"), name, least=-1)
    if limit >= 0:  # -1 is unlimited
        in_use = _amount(content.get(used) or 0, name)
        yield Given(name, max(limit - in_use, 0.0), region)


def _amount(value: object, where: str, least: float = 0) -> float:
    try:
        amount = float(str(value).replace(",", ""))
    except ValueError:
        amount = math.nan
    if not math.isfinite(amount) or amount < least:
        raise InvalidInputError(
            f"“{_short(str(value))}” is not a count.", where=_short(where), todo="Give 0 or more."
        )
    return amount


def _listed(names: list[str]) -> str:
    distinct = list(dict.fromkeys(names))
    said = ", ".join(f"“{_short(name)}”" for name in distinct[:MOST_SHOWN])
    more = len(distinct) - MOST_SHOWN
    return f"{said} and {more:,} more" if more > 0 else said


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
