"""The report of `script/check report` finds its flows and counts their chains."""

import ast

import pytest

from tests.support import readability
from tests.support.readability import FLOWS, Code, StartError


@pytest.fixture(scope="module")
def code() -> Code:
    return Code()


def test_report_prints_every_flow(capsys: pytest.CaptureFixture[str]) -> None:
    readability.main()
    printed = capsys.readouterr().out
    assert all(f"  {flow}: " in printed for flow in FLOWS)
    assert "words per 100 lines" in printed


def test_chain_begins_at_the_view_and_follows_calls(code: Code) -> None:
    chain = code.find_longest_chain(FLOWS["post"])
    assert chain[:2] == [FLOWS["post"], "accounts.legal.consents:require_consents"]


@pytest.mark.parametrize(
    "start", ["board.views.posts:PostViewSet.no_such_method", "abstract:View.get"]
)
def test_missing_or_abstract_start_is_an_error(code: Code, start: str) -> None:
    abstract = ast.parse("def get(self):\n    raise NotImplementedError").body[0]
    assert isinstance(abstract, ast.FunctionDef)
    code.functions["abstract:View.get"] = abstract
    with pytest.raises(StartError):
        code.find_longest_chain(start)
