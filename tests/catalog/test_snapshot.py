"""The shipped snapshot: errors known from public price lists and data sheets must not be in it."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest

from advisor.catalog import Catalog, load
from advisor.catalog.providers.snapshot import FILES, SnapshotProvider
from advisor.core.paths import TABLES_DIR
from advisor.core.units import GB, GBIT_PER_S, TB, TFLOPS

FOLDER = TABLES_DIR / "catalog"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load(today=dt.date(2026, 9, 1))


def peak(catalog: Catalog, name: str, precision: str) -> float:
    return catalog.accelerator(name).peak_flops[precision] / TFLOPS  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "tflops"),
    [
        ("A100-80GB", 312),
        ("H100", 989),
        ("H200", 989),  # 1979 is with sparsity
        ("H100-NVL", 835.5),  # 1979 is of a pair, with sparsity
        ("A10", 125),
        ("A10G", 70),  # 125 is the A10's
        ("L4", 121),
        ("L40S", 362),
        ("B200", 2250),
        ("MI300X", 1300),
        ("TPU-v5e", 197),
        ("Trainium2", 667),
        ("RTX-PRO-6000", 503.8),
    ],
)
def test_peaks_are_dense(catalog: Catalog, name: str, tflops: float) -> None:
    assert peak(catalog, name, "bf16") == pytest.approx(tflops, rel=0.01)


@pytest.mark.parametrize(
    ("name", "tflops"),
    [("RTX-3090", 71), ("RTX-2080-Ti", 53.8), ("RTX-4090", 165.2), ("TITAN-RTX", 130.5)],
)
def test_geforce_peaks_are_with_fp32_accumulate(catalog: Catalog, name: str, tflops: float) -> None:
    assert peak(catalog, name, "fp16") == pytest.approx(tflops, rel=0.01)
    assert "fp32 accumulate" in catalog.accelerator(name).source


def test_memory_and_bandwidth_follow_the_vendor(catalog: Catalog) -> None:
    assert catalog.accelerator("Trainium2").memory_bytes == 96 * GB  # not 512
    assert catalog.accelerator("V100-16GB").memory_bytes_per_s == 0.9 * TB  # not 1130
    assert catalog.accelerator("K80").memory_bytes == 12 * GB  # of one of the two devices


def test_families_join_generations_as_people_name_them(catalog: Catalog) -> None:
    family = catalog.accelerators["family"]
    assert family["T4"] == family["V100-16GB"] == "Volta"
    assert family["MI300X"] == "Instinct"
    assert family["P100-16GB"] == family["Gaudi2"] == "Other"


@pytest.mark.parametrize(
    ("cloud", "name", "gbit_per_s"),
    [
        ("aws", "p4d.24xlarge", 400),  # all four cards, not one
        ("aws", "p5.48xlarge", 3200),
        ("azure", "Standard_ND96asr_v4", 1600),  # Gbit/s, not GB/s; InfiniBand, not the NIC
        ("azure", "Standard_ND96isr_H100_v5", 3200),
        ("gcp", "a2-highgpu-8g", 100),
        ("gcp", "a3-highgpu-8g", 800),  # the cards of the devices, without the one of the host
    ],
)
def test_network_is_the_fabric_of_the_node(
    catalog: Catalog, cloud: str, name: str, gbit_per_s: float
) -> None:
    assert catalog.machine(cloud, name).network_bytes_per_s == gbit_per_s * GBIT_PER_S


@pytest.mark.parametrize(
    ("cloud", "name", "gb_per_s"),
    [
        ("aws", "p3.16xlarge", 150),
        ("aws", "p3.8xlarge", 100),  # two of the six links leave the half board
        ("aws", "p4d.24xlarge", 300),
        ("azure", "Standard_NC48ads_A100_v4", 300),  # one bridged pair
        ("azure", "Standard_NC96ads_A100_v4", 26.69),  # two pairs: a ring crosses the bus
        ("azure", "Standard_NC24s_v3", 12),  # PCIe boards
        ("gcp", "g2-standard-96", 10.07),  # measured
        ("aws", "p5.4xlarge", 48),  # one device
    ],
)
def test_link_is_what_is_really_crossed(
    catalog: Catalog, cloud: str, name: str, gb_per_s: float
) -> None:
    assert catalog.machine(cloud, name).link_bytes_per_s == pytest.approx(gb_per_s * GB)


def test_device_counts_are_right(catalog: Catalog) -> None:
    assert catalog.machine("azure", "Standard_ND96isr_H100_v5").accelerators == 8  # not 12
    assert catalog.machine("gcp", "tpu-v2-128").accelerators == 64  # chips, not cores


def test_fractional_shapes_stay_fractions(catalog: Catalog) -> None:
    eighth = catalog.machine("gcp", "g4-standard-6")
    assert eighth.accelerators == 0.125
    assert eighth.accelerator_memory_bytes == pytest.approx(12 * GB)
    whole = catalog.machine("gcp", "g4-standard-48")
    assert whole.accelerators == 1
    assert whole.accelerator_memory_bytes == 96 * GB


def test_host_and_device_are_priced_together(catalog: Catalog) -> None:
    offer = catalog.offer("gcp", "a2-highgpu-1g", "us-central1", "on_demand")
    assert offer.usd_per_h == pytest.approx(3.67, abs=0.01)  # 0.94 is the host alone
    host = catalog.offer("gcp", "n1-standard-8+1xV100", "us-central1", "on_demand")
    assert host.usd_per_h > 2.48  # the device alone


def test_bundled_disks_are_priced(catalog: Catalog) -> None:
    offer = catalog.offer("gcp", "a3-highgpu-8g", "us-central1", "on_demand")
    assert offer.usd_per_h > 85


def test_capacity_without_on_demand_says_so(catalog: Catalog) -> None:
    offers = catalog.offers
    p5e = offers[offers["instance_type"] == "p5e.48xlarge"]
    assert set(p5e["market"]) == {"spot"}
    assert p5e["reservation_only"].all()
    assert p5e["rankable"].all()
    small = offers[offers["instance_type"].isin(["a3-highgpu-1g", "a3-highgpu-4g"])]
    assert set(small["market"]) == {"spot"}  # a list price is no offer


def test_spot_price_of_a_doubtful_zone_is_passed_over(catalog: Catalog) -> None:
    # One zone lists 2.4655, a tenth of on-demand; the others are near 8.
    assert catalog.offer("aws", "p4d.24xlarge", "us-east-1", "spot").usd_per_h == 7.8799
    # A Local Zone lists 10.2397; one full zone lists the on-demand price.
    assert catalog.offer("aws", "p5.48xlarge", "us-east-1", "spot").usd_per_h == 17.6289
    assert catalog.offer("aws", "p5e.48xlarge", "us-east-2", "spot").usd_per_h == 18.7359


def test_deep_spot_discounts_are_not_recommended(catalog: Catalog) -> None:
    offers = catalog.offers
    azure = offers[(offers["cloud"] == "azure") & (offers["market"] == "spot")]
    doubtful = azure[azure["implausible"]]
    assert len(doubtful) > 70
    assert not doubtful["rankable"].any()


def test_derived_spot_prices_say_so(catalog: Catalog) -> None:
    offer = catalog.offer("aws", "g5.xlarge", "us-east-1", "spot")
    assert "derived_spot" in offer.flags
    assert "Spot Instance Advisor" in offer.source


def test_reserved_prices_are_no_older_than_said(catalog: Catalog) -> None:
    offer = catalog.offer("aws", "g5.xlarge", "us-east-1", "reserved_1y")
    assert offer.as_of == dt.date(2025, 4, 4)  # the on-demand price beside it is newer
    assert "stale" in offer.flags


def test_tpu_prices_are_per_chip_in_both_markets(catalog: Catalog) -> None:
    offers = catalog.offers
    tpu = offers[offers["accelerator"].str.startswith("TPU")]
    assert not tpu["spot_not_below_on_demand"].any()
    assert not tpu["implausible"].any()


def test_no_chip_is_for_inference_only(catalog: Catalog) -> None:
    names = set(catalog.machines["accelerator"])
    assert not names & {"Inferentia1", "Inferentia2", "Qualcomm-AI100"}
    assert (catalog.machines["accelerators"] > 0).all()


def test_more_devices_of_one_series_cost_more(catalog: Catalog) -> None:
    offers = catalog.offers
    on_demand = offers[(offers["market"] == "on_demand") & offers["cloud"].isin(["aws", "gcp"])]
    series = on_demand["instance_type"].astype(str).str.extract(r"^([a-z0-9]+(?:-[a-z]+)?)")[0]
    keys = ["cloud", "region", "series", "accelerators"]
    cheapest = on_demand.assign(series=series).groupby(keys, observed=True)["usd_per_h"].min()
    step = cheapest.groupby(level=keys[:3], observed=True).diff()
    assert not (step < 0).any()


def test_prices_of_two_sources_agree(catalog: Catalog) -> None:
    # us-east-1 and us-east-2 come from different lists and cost the same at AWS.
    offers = catalog.offers[catalog.offers["market"] == "on_demand"]
    price = offers.set_index(["instance_type", "region"])["usd_per_h"]
    both = pd.DataFrame(
        {region: price.xs(region, level="region") for region in ("us-east-1", "us-east-2")}
    ).dropna()
    assert len(both) > 30
    assert ((both["us-east-1"] / both["us-east-2"]).between(0.9, 1.1)).all()


def test_start_up_times_tell_their_basis(catalog: Catalog) -> None:
    median_s, p90_s, basis = catalog.startup_s("gcp", "a3-highgpu-8g", "H100")
    assert 20 < median_s <= p90_s < 900
    assert "H100 machines of gcp" in basis
    assert "other clouds" in catalog.startup_s("lambda", "1x-H100", "H100")[2]


def test_unknown_is_none(catalog: Catalog) -> None:
    assert catalog.storage_usd_per_gb_month("azure", "eastus") is None
    assert catalog.interruption_band("azure", "eastus", "Standard_NC6s_v3") is None
    assert catalog.egress_usd_per_gb("lambda", "all", "aws", "us-east-1") is None
    assert catalog.region_network("lambda", "all", "aws", "us-east-1") == (None, None)


def test_traffic_and_storage_have_prices(catalog: Catalog) -> None:
    assert catalog.egress_usd_per_gb("aws", "us-east-1", "aws", "us-west-2") == 0.02
    assert catalog.egress_usd_per_gb("aws", "us-east-1", "internet") == 0.09
    assert catalog.egress_usd_per_gb("aws", "us-east-1", "aws", "us-east-1") == 0
    assert catalog.egress_usd_per_gb("aws", "us-east-1", "lambda", "all") == 0.09
    assert catalog.storage_usd_per_gb_month("aws", "us-east-1") == 0.08
    assert catalog.storage_usd_per_gb_month("gcp", "us-central1", "disk:ssd") == 0.17
    assert catalog.interruption_band("aws", "us-east-1", "g5.xlarge") == (0.2, 1.0)
    rtt_s, bytes_per_s = catalog.region_network("aws", "us-east-1", "gcp", "us-central1")
    assert rtt_s == pytest.approx(0.02854)
    assert bytes_per_s == pytest.approx(4.64 * GBIT_PER_S)


def test_share_alike_tables_stand_apart_with_their_licence() -> None:
    licence = (FOLDER / "share-alike" / "LICENSE.md").read_text(encoding="utf-8")
    assert "CC BY-SA 4.0" in licence
    sources = pd.read_csv(FOLDER / "by-hand" / "sources.csv").set_index("source_id")["licence"]
    for name in FILES:
        columns = pd.read_csv(FOLDER / name, nrows=0).columns
        if "source_id" not in columns or name.endswith("sources.csv"):
            continue
        used = pd.read_csv(FOLDER / name, usecols=["source_id"])["source_id"].dropna().unique()
        shared = any("SA" in sources[i] for joined in used for i in joined.split("+"))
        assert shared == name.startswith("share-alike/"), name


def test_the_hash_follows_the_content_only(catalog: Catalog) -> None:
    assert catalog.hash == SnapshotProvider().fetch().hash
    assert len(catalog.hash) == 16
    assert catalog.as_of == dt.date(2026, 7, 30)
