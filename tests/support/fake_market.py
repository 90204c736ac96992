"""Sources of prices on a loopback server."""

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from werkzeug import Request, Response

NAVER, YAHOO = "/api/realtime/domestic/stock/", "/v8/finance/chart/"
SOURCES = re.compile(r"/(api/realtime|v8/finance)/.*")
AT = "2025-11-20T15:30:00+09:00"
EPOCH = 1_763_762_400  # 2025-11-21T22:00:00Z

Handler = Callable[[Request], Response]


def write_row(code: str, price: Any = "71,000") -> dict[str, Any]:
    return {"itemCode": code, "closePrice": price, "localTradedAt": AT}


def write_chart(symbol: str, price: Any = 271.49, **fields: Any) -> dict[str, Any]:
    meta = {
        "symbol": symbol,
        "currency": "USD",
        "regularMarketPrice": price,
        "regularMarketTime": EPOCH,
    } | fields
    return {"chart": {"result": [{"meta": meta}], "error": None}}


def as_json(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status, mimetype="application/json")


class FakeMarket:
    """Naver and Yahoo at one address; `calls` are the paths they were asked."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.prices: dict[str, Any] = {}
        self.several = True
        self.answer: Handler | None = None

    def __call__(self, request: Request) -> Response:
        self.calls.append(request.path)
        if self.answer is not None:
            return self.answer(request)
        if request.path.startswith(NAVER):
            codes = request.path.removeprefix(NAVER).split(",")
            known = [code for code in codes if code in self.prices]
            if len(codes) > 1 and not self.several:
                known = []
            rows = [write_row(code, self.prices[code]) for code in known]
            return as_json({"datas": rows})
        code = request.path.removeprefix(YAHOO)
        if code not in self.prices:
            error = {"code": "Not Found"}
            return as_json({"chart": {"result": None, "error": error}}, 404)
        return as_json(write_chart(code, self.prices[code]))


def redirect(request: Request) -> Response:
    return Response(status=302, headers={"Location": "/moved"})


# Longer than prices may take.
SLOW_SECONDS = 2.2


def sleep(request: Request) -> Response:
    time.sleep(SLOW_SECONDS)
    return as_json({"datas": [write_row("005930")]})


def trickle(request: Request) -> Response:
    def drops() -> Iterator[bytes]:
        for _ in range(int(10 * SLOW_SECONDS)):
            time.sleep(0.1)
            yield b" "
        yield json.dumps({"datas": [write_row("005930")]}).encode()

    return Response(drops(), mimetype="application/json")


FAILURES: dict[str, Handler] = {
    "500": lambda request: Response("{}", status=500),
    "429": lambda request: Response("Too Many Requests", status=429),
    "403": lambda request: Response("<html>", status=403, mimetype="text/html"),
    "html with 200": lambda request: Response("<html>", mimetype="text/html"),
    "empty": lambda request: Response(""),
    "list": lambda request: as_json([]),
    "deep": lambda request: Response("[" * 100_000),
    "without datas": lambda request: as_json({}),
    "datas null": lambda request: as_json({"datas": None}),
    "rows of text": lambda request: as_json({"datas": ["005930"]}),
    "another code": lambda request: as_json({"datas": [write_row("000660")]}),
    "huge": lambda request: as_json({"datas": [], "x": "x" * 2**21}),
    "huge number": lambda request: Response('{"datas": ' + "9" * 5000 + "}"),
    "redirect": redirect,
    "slow": sleep,
    "trickle": trickle,
}
