"""What can be rented: accelerators, machines, prices, links, interruption and start-up."""

from advisor.catalog.catalog import Catalog
from advisor.catalog.load import load, stamp
from advisor.catalog.regions import region_area

__all__ = ["Catalog", "load", "region_area", "stamp"]
