"""The pages of the OpenAPI document: search, and examples to try out (spec 7.7)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from config.openapi_examples import EXAMPLES
from tests.support.devtools import Chromium, find_barriers, needs_chromium

pytestmark = [needs_chromium, pytest.mark.django_db(transaction=True)]

SCREENSHOTS = os.environ.get("SCREENSHOTS", "")


def try_out(page: Chromium, live_server: Any, tag: str, operation_id: str) -> str:
    """Open an operation to try it out; return the script that finds its block."""
    page.open(f"{live_server.url}/api/docs/try#/{tag}/{operation_id}")
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


SHOWN = "[...document.querySelectorAll('.operation')].filter(e => e.checkVisibility())"
FOCUSED = "document.activeElement.closest('details')?.id"


def press(page: Chromium, *keys: str) -> None:
    for key in keys:
        code = {"Enter": 13}.get(key, 0)
        extra = (
            {"text": "\r"} if key == "Enter" else {"text": "/"} if key == "/" else {}
        )
        for kind in ("keyDown", "keyUp"):
            page.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                **(extra if kind == "keyDown" else {}),
            )


def search(page: Chromium, text: str) -> list[str]:
    """Type into the search; return the ids of the operations that are shown."""
    page.type("#q", text)
    return list(page.evaluate(f"{SHOWN}.map(e => e.id)"))


def test_search_finds_operations_by_path_summary_id_and_code(
    page: Chromium, live_server: Any
) -> None:
    page.open(f"{live_server.url}/api/docs")
    everything = page.evaluate(f"{SHOWN}.length")
    assert everything > 200
    assert "createEntry" in search(page, "account/entries create")
    assert search(page, "createEntry") == ["createEntry"]
    assert "createEntry" in search(page, "refund_exceeds")
    assert search(page, "Start a password reset") or search(page, "password-reset")
    assert search(page, "nothing of this kind") == []
    assert page.evaluate("document.querySelector('#found').value") == "Nothing is here."
    assert page.evaluate("location.search") == "?q=nothing+of+this+kind"
    assert search(page, "import CATEGORIES") != []
    page.open(f"{live_server.url}/api/docs?q=createEntry")
    assert page.evaluate(f"{SHOWN}.map(e => e.id)") == ["createEntry"]
    assert page.evaluate("document.querySelector('#found').value") == "1 operation"
    assert page.errors() == []


def test_search_works_by_keyboard(page: Chromium, live_server: Any) -> None:
    page.open(f"{live_server.url}/api/docs")
    press(page, "/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.call("Input.insertText", text="budgets")
    shown = page.evaluate(f"{SHOWN}.map(e => e.id)")
    assert len(shown) > 3
    press(page, "ArrowDown", "ArrowDown")
    assert page.evaluate(FOCUSED) == shown[1]
    press(page, "Enter")
    page.wait(f"document.getElementById('{shown[1]}').open")
    press(page, "ArrowUp", "ArrowUp")
    assert page.evaluate("document.activeElement.id") == "q"
    press(page, "Enter")
    page.wait(f"document.getElementById('{shown[0]}').open")
    assert page.evaluate(FOCUSED) == shown[0]
    press(page, "Escape")
    assert page.evaluate("document.activeElement.id") == "q"
    assert page.evaluate(f"{SHOWN}.length") > 200


@pytest.mark.parametrize("address", ["#createEntry", "#/Entries/createEntry"])
def test_address_opens_an_operation(
    page: Chromium, live_server: Any, address: str
) -> None:
    page.open(f"{live_server.url}/api/docs{address}")
    page.wait("document.getElementById('createEntry').open")
    top, height = page.evaluate(
        "(({top, height}) => [top, height])"
        "(document.getElementById('createEntry').getBoundingClientRect())"
    )
    assert 0 < top < 300
    assert height < 3_500
    assert page.errors() == []


def test_script_runs_on_the_second_visit_too(page: Chromium, live_server: Any) -> None:
    # The page comes from the cache of the browser, after a 304.
    for path in ("/api/docs?q=createEntry", "/", "/api/docs?q=createEntry"):
        page.open(f"{live_server.url}{path}")
    page.wait(f"{SHOWN}.length === 1")
    assert page.errors() == []


def test_page_is_whole_without_scripts(page: Chromium, live_server: Any) -> None:
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.call("Page.navigate", url=f"{live_server.url}/api/docs#tag-board")
    page.wait("document.querySelectorAll('.operation').length > 200")
    assert not page.evaluate("document.querySelector('.search').checkVisibility()")
    # The search of the browser opens what it finds.
    assert page.evaluate("window.find('installmentMonths')")


@pytest.mark.parametrize(
    ("width", "scheme", "language"),
    [
        *((390, "light", "ko"), (390, "dark", "en")),
        *((1440, "light", "en"), (1440, "dark", "ko")),
    ],
)
def test_open_operations_fit_and_have_no_barriers(
    page: Chromium, live_server: Any, axe: None, width: int, scheme: str, language: str
) -> None:
    page.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
    page.use_scheme(scheme)
    page.resize(width, 900)
    page.open(f"{live_server.url}/api/docs?q=account/entries#createEntry")
    page.wait("document.getElementById('createEntry').open")
    if SCREENSHOTS:
        page.shoot(Path(SCREENSHOTS) / f"docs-{language}-{scheme}-{width}.png")
    shown = '{include: ["header", ".search", ".operation[open]"]}'
    assert find_barriers(page, context=shown) == []
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    edges = "[...document.querySelectorAll('main *')].filter(e => e.checkVisibility())"
    right = f"Math.max(...{edges}.map(e => e.getBoundingClientRect().right))"
    assert page.evaluate(right) <= width
    page.open(f"{live_server.url}/api/docs")
    if SCREENSHOTS:
        page.shoot(Path(SCREENSHOTS) / f"docs-top-{language}-{scheme}-{width}.png")
