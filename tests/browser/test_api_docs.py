"""The page of the OpenAPI document proposes the examples to whoever tries it out."""

import json
from typing import Any

import pytest

from config.openapi_examples import EXAMPLES
from tests.support.devtools import Chromium, needs_chromium

pytestmark = [needs_chromium, pytest.mark.django_db(transaction=True)]


def try_out(page: Chromium, live_server: Any, tag: str, operation_id: str) -> str:
    """Open an operation to try it out; return the script that finds its block."""
    page.open(f"{live_server.url}/api/docs#/{tag}/{operation_id}")
    block = f"document.getElementById('operations-{tag}-{operation_id}')"
    page.wait(f"{block}?.querySelector('.try-out__btn')")
    page.evaluate(f"{block}.querySelector('.try-out__btn').click()")
    return block


def test_body_of_a_new_entry_is_the_example(page: Chromium, live_server: Any) -> None:
    block = try_out(page, live_server, "Entries", "createEntry")
    page.wait(f"{block}.querySelector('textarea')")
    body = page.evaluate(f"{block}.querySelector('textarea').value")
    assert json.loads(body) == EXAMPLES["createEntry"].body
    text = page.evaluate(f"{block}.querySelector('.responses-wrapper').innerText")
    assert "삼겹살" in text
    assert "Unknown currency." in text


def test_parameters_of_a_list_are_the_example(page: Chromium, live_server: Any) -> None:
    block = try_out(page, live_server, "Entries", "listEntries")
    page.wait(f"{block}.querySelector('input')")
    inputs = f"[...{block}.querySelectorAll('tr[data-param-name] input')]"
    values = page.evaluate(f"{inputs}.map(input => input.value).filter(Boolean)")
    assert set(values) >= {"2026", "11", "식비"}
