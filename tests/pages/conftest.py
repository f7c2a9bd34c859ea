"""A missing text stops a test; run by hand or on a server it would show English."""

import pytest

from pages.shared import language


@pytest.fixture(autouse=True)
def missing_texts_raise(monkeypatch):
    monkeypatch.setattr(language, "strict", True)
