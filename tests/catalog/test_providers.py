"""Every registered provider keeps the contract."""

from __future__ import annotations

import pytest

from advisor.catalog.provider import PROVIDERS, PriceProvider
from advisor.testing.catalog import ProviderContract


class TestProviders(ProviderContract):
    @pytest.fixture(params=list(PROVIDERS), scope="class")
    @classmethod
    def provider(cls, request: pytest.FixtureRequest) -> PriceProvider:
        return PROVIDERS[request.param]()
