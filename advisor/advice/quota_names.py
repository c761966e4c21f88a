"""What a quota's name limits: an instance type, an accelerator, or a cloud's own quota."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from advisor.catalog.names import spelled

if TYPE_CHECKING:
    from advisor.catalog import Catalog
    from advisor.domain.quota import QuotaMarket, QuotaUnit

# Names of Amazon EC2 quotas, in vCPUs; docs.aws.amazon.com, ec2-instance-quotas.html.
_AWS: Final = (
    ("not_spot", re.compile(r"^Running On-Demand (.+) instances$", re.IGNORECASE)),
    ("spot", re.compile(r"^All (.+) Spot Instance Requests$", re.IGNORECASE)),
)
_SPLIT: Final = re.compile(r",\s*(?:and\s+)?|\s+and\s+")
_AWS_WORDS: Final = {"trainium": "trn", "g": "gr?"}
# Metrics of Compute Engine, in accelerators; docs.cloud.google.com/compute/resource-usage.
_GCP: Final = re.compile(r"^(PREEMPTIBLE_)?NVIDIA_(\w+?)_GPUS$", re.IGNORECASE)
_GCP_MACHINES: Final = {"H100_MEGA": r"a3-megagpu-\d+g", "H100": r"a3-highgpu-\d+g"}
# Quota families of Azure, in vCPUs, and their sizes; learn.microsoft.com/azure/virtual-machines.
_AZURE: Final = {
    "ncsv3": r"NC\d+r?s_v3", "ncasv3t4": r"NC\d+as_T4_v3", "ncadsa10v4": r"NC\d+ads_A10_v4",
    "ncadsa100v4": r"NC\d+ads_A100_v4", "ncadsh100v5": r"NC\d+adi?s_H100_v5",
    "nccads2023": r"NCC\d+ads_H100_v5", "nccadsh100v5": r"NCC\d+ads_H100_v5",
    "ndsv2": r"ND\d+rs_v2", "ndasv4a100": r"ND\d+asr_v4", "ndamsv4a100": r"ND\d+amsr_A100_v4",
    "ndsh100v5": r"ND\d+isr_H100_v5", "ndisrh200v5": r"ND\d+isr_H200_v5",
    "ndisv5mi300x": r"ND\d+isr?_MI300X_v5", "ndisrmi300xv5": r"ND\d+isr?_MI300X_v5",
    "ndisrgb200v6ndr": r"ND\d+isrf?_NDR_GB200_v6", "nvsv2": r"NV\d+s_v2", "nvsv3": r"NV\d+s_v3",
    "nvadsa10v5": r"NV\d+adm?s_A10_v5", "cores": r"\w+", "lowprioritycores": r"\w+",
}  # fmt: skip
# Names that mean a machine with accelerators: one we do not know is worth a word.
_OF_ACCELERATORS: Final = re.compile(
    r"^Running On-Demand (P|G|DL|Trn|Trainium)|^All (P|G|DL|Trn|Trainium)\d?\b.*Spot"
    r"|^(PREEMPTIBLE_)?NVIDIA_(?!\w*_VWS_)|^standard ?N[CDGV]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a quota limits; an empty cloud is every cloud, each on its own."""

    cloud: str
    instance_types: tuple[str, ...]
    unit: QuotaUnit
    market: QuotaMarket = "any"


def meaning_of(name: str, catalog: Catalog) -> Meaning | None:
    """Return what a quota of this name limits; None where no machine of the catalog is meant."""
    for read in (_machine, _aws, _gcp, _azure, _accelerator):
        found = read(name.strip(), catalog)
        if found is not None:
            return found if found.instance_types else None
    return None


def names_accelerators(name: str) -> bool:
    """Return whether a cloud's quota of this name is one of machines with accelerators."""
    return bool(_OF_ACCELERATORS.search(name))


def _machine(name: str, catalog: Catalog) -> Meaning | None:
    return _machines(catalog).get(name.casefold())


@lru_cache(maxsize=2)
def _machines(catalog: Catalog) -> dict[str, Meaning]:
    """Return what every machine's name means: an account has thousands of quotas."""
    frame = catalog.machines
    found = {}
    for folded, same in frame.groupby(frame["instance_type"].str.casefold()):
        clouds = same["cloud"].unique()
        cloud = str(clouds[0]) if len(clouds) == 1 else ""
        found[str(folded)] = Meaning(cloud, tuple(same["instance_type"].unique()), "machines")
    return found


def _aws(name: str, catalog: Catalog) -> Meaning | None:
    for market, named in _AWS:
        found = named.match(name)
        if found:
            words = [word.casefold() for word in _SPLIT.split(found[1]) if word]
            families = "|".join(_family(word) for word in words if word.isalnum())
            pattern = rf"(?:{families})\w*(?:-\w+)?\..*"
            # “High Memory” is no begin of a type; an empty one would be that of all.
            matching = _matching(catalog, "aws", pattern) if families else ()
            return Meaning("aws", matching, "vcpus", "spot" if market == "spot" else "not_spot")
    return None


def _family(word: str) -> str:
    """Return the begin of instance types: “P” is every generation, “P5” is p5, p5e and p5en."""
    letters = _AWS_WORDS.get(word, word)
    return rf"{letters}(?!\d)" if word[-1].isdigit() else rf"{letters}\d"


def _gcp(name: str, catalog: Catalog) -> Meaning | None:
    found = _GCP.match(name)
    if not found:
        return None
    kind = found[2].upper()
    market: QuotaMarket = "spot" if found[1] else "not_spot"
    if kind in _GCP_MACHINES:
        return Meaning(
            "gcp", _matching(catalog, "gcp", _GCP_MACHINES[kind]), "accelerators", market
        )
    of_kind = _accelerator(kind, catalog)
    if of_kind is None:
        return None
    types = tuple(one for one in _types(catalog)["gcp"] if one in of_kind.instance_types)
    return Meaning("gcp", types, "accelerators", market)


def _azure(name: str, catalog: Catalog) -> Meaning | None:
    folded = re.sub(r"[^a-z0-9]", "", name.casefold()).removesuffix("vcpus")
    key = folded.removeprefix("standard").removesuffix("family")
    if key not in _AZURE:
        return None
    types = _matching(catalog, "azure", rf"Standard_{_AZURE[key]}")
    return Meaning("azure", types, "vcpus", "spot" if key == "lowprioritycores" else "not_spot")


def _accelerator(name: str, catalog: Catalog) -> Meaning | None:
    canonical = catalog.spellings.get(spelled(name))
    if canonical is None:
        return None
    machines = catalog.machines
    types = machines["instance_type"][machines["accelerator"] == canonical].unique()
    return Meaning("", tuple(types), "accelerators")


def _matching(catalog: Catalog, cloud: str, pattern: str) -> tuple[str, ...]:
    matches = re.compile(pattern).fullmatch
    return tuple(name for name in _types(catalog).get(cloud, ()) if matches(name))


@lru_cache(maxsize=2)
def _types(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Return the names of every cloud's machines, each once."""
    names = catalog.machines.groupby("cloud", observed=True)["instance_type"]
    return {str(cloud): tuple(own.unique()) for cloud, own in names}
