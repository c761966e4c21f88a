"""Which part of the world a region lies in, from its name."""

from __future__ import annotations

import re
from typing import Final, Literal

Area = Literal["US", "Europe", "Asia", "Other"]

# The first pattern that is found decides. AWS and Google write the part of the world first,
# Azure writes the country or, in the United States, the compass point.
_AREAS: Final[tuple[tuple[Area, re.Pattern[str]], ...]] = (
    ("Other", re.compile(r"^ap-southeast-[246]$|^australia|^northamerica|canada|mexico|brazil")),
    ("US", re.compile(r"^us-|^(east|west|central|northcentral|southcentral|westcentral)us\d?$")),
    ("US", re.compile(r"^us(gov|dod|nat|sec)")),
    (
        "Europe",
        re.compile(
            r"^eu-|^europe-|^(north|west)europe|^(austria|belgium|denmark|finland|france|germany"
            r"|greece|italy|norway|poland|spain|sweden|switzerland|uk(south|west))"
        ),
    ),
    (
        "Asia",
        re.compile(
            r"^ap-|^asia-|^(east|southeast)asia|india|^(indonesia|japan|korea|malaysia|singapore"
            r"|taiwan|thailand)|^cn-|^china"
        ),
    ),
)


def region_area(region: str) -> Area:
    """Return the part of the world of a region of any cloud.

    Asia is South, East and South-East Asia; Canada, Latin America, Oceania, the Middle East,
    Africa and unnamed regions are Other.

    >>> [region_area(r) for r in ("us-east-1", "westus3", "europe-west4", "ap-southeast-2")]
    ['US', 'US', 'Europe', 'Other']
    """
    folded = region.casefold()
    return next((area for area, pattern in _AREAS if pattern.search(folded)), "Other")
