"""`Idempotency-Key`: a request that is sent again has one effect (spec 3.23)."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.utils import timezone

from accounts.models import Member
from administration.tasks import purge_request_keys
from core.api import keyed_answers
from core.api.keyed_answers import KEY_LIFETIME
from core.repeated_headers import note_repeated
from ledger.backup.examples import ROWS
from ledger.models import Entry, RequestKey, Tag, Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_tag, make_wallet
from tests.support.fakes import FakeRates
from tests.support.problems import assert_invalid, assert_problem

pytestmark = pytest.mark.django_db

ACCOUNT = "/api/account"
ENTRIES = f"{ACCOUNT}/entries"
TAGS = f"{ACCOUNT}/tags"
ENTRY = {"date": "2026-11-02", "type": "expense", "amount": 5, "memo": "점심"}


@pytest.fixture
def phone(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def send(
    client: JSONClient,
    method: str,
    path: str,
    body: Any = None,
    key: str = "key-1",
    **extra: Any,
) -> Any:
    return client.send(method, path, body, HTTP_IDEMPOTENCY_KEY=key, **extra)


def is_replayed(response: Any) -> bool:
    value = response.headers.get("Idempotency-Replayed")
    assert value in {None, "true"}
    return bool(value)


def test_request_that_is_sent_again_has_one_effect(phone: JSONClient) -> None:
    first = send(phone, "POST", ENTRIES, ENTRY)
    assert (first.status_code, is_replayed(first)) == (201, False)
    # Whatever has happened to the row since.
    path = f"{ENTRIES}/{first.data['id']}"
    assert phone.change_json("PATCH", path, {"memo": "changed"})["memo"] == "changed"
    for _ in range(2):
        again = send(phone, "POST", ENTRIES, ENTRY)
        assert is_replayed(again)
        assert (again.status_code, again.content) == (201, first.content)
        for name in ("Location", "ETag", "Content-Type"):
            assert again.headers[name] == first.headers[name]
    assert Entry.objects.count() == 1
    assert (
        send(phone, "POST", ENTRIES, ENTRY, key="key-2").data["id"] != first.data["id"]
    )
    assert not is_replayed(phone.send("POST", ENTRIES, ENTRY))


def test_answer_without_content_is_given_again(phone: JSONClient) -> None:
    assert phone.member
    path = f"{TAGS}/{make_tag(phone.member).pk}"
    assert send(phone, "DELETE", path).status_code == 204
    again = send(phone, "DELETE", path)
    assert (again.status_code, again.content, is_replayed(again)) == (204, b"", True)
    assert send(phone, "DELETE", path, key="another").status_code == 404


def test_body_counts_by_its_value(phone: JSONClient) -> None:
    texts = (
        '{"name": "t", "icon": null}',
        ' {"icon":null,\n"name":"\\u0074"}',
    )
    answers = [
        phone.generic("POST", TAGS, text, "application/json", HTTP_IDEMPOTENCY_KEY="k")
        for text in texts
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert [is_replayed(answer) for answer in answers] == [False, True]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", ENTRIES, ENTRY | {"amount": 6}),
        ("POST", ENTRIES, {name: ENTRY[name] for name in ("date", "type", "amount")}),
        ("POST", ENTRIES, {}),
        ("POST", ENTRIES, [ENTRY]),
        ("POST", ENTRIES, ENTRY | {"unknown": 1}),
        ("POST", f"{ENTRIES}?page=1", ENTRY),
        ("POST", TAGS, ENTRY),
        ("PUT", f"{ENTRIES}/1", ENTRY),
        ("PATCH", f"{ENTRIES}/1", ENTRY),
        ("DELETE", f"{ENTRIES}/1", None),
    ],
)
def test_another_request_under_the_key_is_refused_before_all_else(
    method: str, path: str, body: Any, phone: JSONClient
) -> None:
    assert send(phone, "POST", ENTRIES, ENTRY).status_code == 201
    answer = send(phone, method, path, body, HTTP_IF_MATCH='"1000"')
    assert_problem(answer, 422, "IDEMPOTENCY_KEY_REUSED")
    assert (Entry.objects.count(), RequestKey.objects.count()) == (1, 1)


def test_numbers_of_another_type_are_another_request(phone: JSONClient) -> None:
    send(phone, "POST", ENTRIES, ENTRY)
    for amount in (5.5, "5", True):
        answer = send(phone, "POST", ENTRIES, ENTRY | {"amount": amount})
        assert answer.status_code == 422, amount


def test_a_refusal_leaves_the_key_free(phone: JSONClient) -> None:
    assert phone.member
    taken = make_tag(phone.member)
    for body, status in (
        ({"name": ""}, 400),
        ({"name": "x", "unknown": 1}, 400),
        ({"name": taken.name}, 409),
    ):
        assert send(phone, "POST", TAGS, body).status_code == status
    assert not RequestKey.objects.exists()
    path = f"{TAGS}/{taken.pk}"
    missed = send(phone, "PATCH", path, {"name": "new"}, HTTP_IF_MATCH='"1000"')
    assert missed.status_code == 412
    assert send(phone, "PATCH", f"{TAGS}/{2**40}", {"name": "new"}).status_code == 404
    done = send(
        phone, "PATCH", path, {"name": "new"}, HTTP_IF_MATCH=f'"{taken.version}"'
    )
    assert done.status_code == 200
    # By now the version is another one.
    again = send(
        phone, "PATCH", path, {"name": "new"}, HTTP_IF_MATCH=f'"{taken.version}"'
    )
    assert (again.status_code, is_replayed(again)) == (200, True)
    assert again.content == done.content


@pytest.mark.parametrize(
    "key", ["", " ", "a b", "x" * 129, "tab\t", "é", "키", "nul\x00", " lead", "trail "]
)
def test_malformed_keys_are_refused(key: str, phone: JSONClient) -> None:
    assert_invalid(send(phone, "POST", ENTRIES, ENTRY, key=key), "Idempotency-Key")
    assert not Entry.objects.exists()


@pytest.mark.parametrize("key", ["x", "x" * 128, "!~,;\"'", "a,b"])
def test_keys_are_visible_ascii(key: str, phone: JSONClient) -> None:
    assert send(phone, "POST", ENTRIES, ENTRY, key=key).status_code == 201
    assert is_replayed(send(phone, "POST", ENTRIES, ENTRY, key=key))


def test_a_key_that_is_sent_twice_is_refused(phone: JSONClient) -> None:
    environ: dict[str, Any] = {}
    note_repeated(environ, "HTTP_IDEMPOTENCY_KEY")
    answer = send(phone, "POST", ENTRIES, ENTRY, key="a,a", **environ)
    assert_invalid(answer, "Idempotency-Key")
    assert answer.data["errors"][0]["code"] == "repeated"


def test_keys_of_members_are_their_own(phone: JSONClient, other_member: Member) -> None:
    other = JSONClient(other_member)
    mine, theirs = (send(each, "POST", ENTRIES, ENTRY) for each in (phone, other))
    assert (mine.status_code, theirs.status_code) == (201, 201)
    assert mine.data["id"] != theirs.data["id"]
    assert not is_replayed(theirs)
    assert send(JSONClient(), "POST", ENTRIES, ENTRY).status_code == 401


def test_all_writes_of_a_request_are_one_transaction(phone: JSONClient) -> None:
    body = ENTRY | {"category": "new", "tags": ["new"]}
    assert send(phone, "POST", ENTRIES, body).status_code == 201
    wrong = ENTRY | {"category": "newer", "walletId": 2**40}
    assert send(phone, "POST", ENTRIES, wrong, key="key-2").status_code == 400
    names = [row["name"] for row in phone.get_json(f"{ACCOUNT}/categories")]
    assert names == ["new"]


def test_missing_rates_are_looked_up_for_a_request_with_a_key(
    phone: JSONClient, fx_source: FakeRates
) -> None:
    body: dict[str, Any] = {"date": "2026-11-02", "type": "expense"}
    body |= {"currency": "USD", "originalAmount": 2}
    fx_source.quote("USD", "KRW", "1380.5", "2026-11-02")
    first = send(phone, "POST", ENTRIES, body)
    assert first.status_code == 201, first.content
    assert first.data["exchangeRate"] > 1
    assert send(phone, "POST", ENTRIES, body).content == first.content
    assert Entry.objects.count() == 1


def test_what_writes_nothing_takes_no_key(phone: JSONClient) -> None:
    assert phone.member
    wallet = make_wallet(phone.member)
    path = f"{ACCOUNT}/wallets/{wallet.pk}/reconcile"
    body = {"date": timezone.localdate().isoformat(), "balance": 7, "dryRun": True}
    for _ in range(2):
        answer = send(phone, "POST", path, body)
        assert (answer.status_code, is_replayed(answer)) == (200, False)
    done = send(phone, "POST", path, body | {"dryRun": False})
    assert not is_replayed(done)
    assert is_replayed(send(phone, "POST", path, body | {"dryRun": False}))
    assert Entry.objects.count() == 1
    assert phone.get(ENTRIES, HTTP_IDEMPOTENCY_KEY="a b").status_code == 200


def upload(client: JSONClient, data: bytes, **query: Any) -> Any:
    file = SimpleUploadedFile("backup.json", data)
    return client.post(
        f"{ACCOUNT}/restore",
        {"file": file},
        query_params=query,
        HTTP_IDEMPOTENCY_KEY="key-1",
    )


def test_restore_has_one_effect_whatever_the_boundary(phone: JSONClient) -> None:
    data = json.dumps(ROWS).encode()
    assert not is_replayed(upload(phone, data, dryRun="true"))
    first = upload(phone, data)
    assert (first.status_code, is_replayed(first)) == (200, False)
    ids = set(Wallet.objects.values_list("pk", flat=True))
    assert ids
    again = upload(phone, data)
    assert (again.content, is_replayed(again)) == (first.content, True)
    assert set(Wallet.objects.values_list("pk", flat=True)) == ids
    other = upload(phone, data + b" ")
    assert_problem_of_upload(other)
    # A key outlives the ledger that it was used in.
    assert RequestKey.objects.count() == 1


def assert_problem_of_upload(response: Any) -> None:
    assert response.status_code == 422
    assert json.loads(response.content)["code"] == "IDEMPOTENCY_KEY_REUSED"


def test_restore_from_json_has_one_effect(phone: JSONClient) -> None:
    path = f"{ACCOUNT}/restore/json"
    first, again = (send(phone, "POST", path, ROWS) for _ in range(2))
    assert first.status_code == 200, first.content
    assert (is_replayed(first), is_replayed(again)) == (False, True)
    assert first.content == again.content


def test_restore_that_was_answered_in_the_meantime_is_undone(
    phone: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{ACCOUNT}/restore/json"
    first = send(phone, "POST", path, ROWS)
    ids = set(Wallet.objects.values_list("pk", flat=True))
    # It is looked up before the first one has committed.
    find, found = RequestKey.find, []

    def find_late(request: Any) -> Any:
        found.append(request)
        return find(request) if len(found) > 2 else None

    monkeypatch.setattr(RequestKey, "find", find_late)
    again = send(phone, "POST", path, ROWS)
    assert (again.content, is_replayed(again)) == (first.content, True)
    assert set(Wallet.objects.values_list("pk", flat=True)) == ids


def test_the_oldest_keys_go_first(
    phone: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyed_answers, "MAX_KEYS", 3)
    for number in range(5):
        assert send(phone, "POST", TAGS, {"name": f"{number}"}, key=f"k{number}").data
        RequestKey.objects.filter(key=f"k{number}").update(
            created_at=timezone.now() - timedelta(minutes=10 - number)
        )
    keys = RequestKey.objects.order_by("key").values_list("key", flat=True)
    assert list(keys) == ["k2", "k3", "k4"]
    assert Tag.objects.count() == 5


def test_a_large_answer_is_given_once(
    phone: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyed_answers, "MAX_BODY_BYTES", 20)
    assert send(phone, "POST", TAGS, {"name": "t"}).data["name"] == "t"
    stored = RequestKey.objects.get()
    assert (stored.status, stored.body) == (201, None)


def test_keys_are_purged_after_a_week(phone: JSONClient, other_member: Member) -> None:
    for client in (phone, JSONClient(other_member)):
        send(client, "POST", ENTRIES, ENTRY)
        send(client, "POST", ENTRIES, ENTRY, key="old")
    long_ago = timezone.now() - KEY_LIFETIME - timedelta(minutes=1)
    RequestKey.objects.filter(key="old").update(created_at=long_ago)
    # Whether the job has come by or not.
    assert not is_replayed(
        send(phone, "POST", ENTRIES, ENTRY | {"amount": 6}, key="old")
    )
    assert is_replayed(send(phone, "POST", ENTRIES, ENTRY | {"amount": 6}, key="old"))
    RequestKey.objects.filter(key="old").update(created_at=long_ago)
    purge_request_keys()
    assert set(RequestKey.objects.values_list("key", flat=True)) == {"key-1"}
    assert not is_replayed(send(phone, "POST", ENTRIES, ENTRY, key="old"))
    assert is_replayed(send(phone, "POST", ENTRIES, ENTRY))
    RequestKey.objects.update(created_at=long_ago)
    call_command("purge_request_keys")
    assert not RequestKey.objects.exists()


def test_decimals_are_compared_as_they_were_sent(phone: JSONClient) -> None:
    body = {"date": "2026-11-02", "type": "expense", "amount": 5, "currency": "USD"}
    body |= {"originalAmount": 1.5, "exchangeRate": 3}
    first = send(phone, "POST", ENTRIES, body)
    assert first.data["originalAmount"] == Decimal("1.5")
    assert is_replayed(send(phone, "POST", ENTRIES, body))
    for changed in (1.25, "1.5", 15, 0.15):
        answer = send(phone, "POST", ENTRIES, body | {"originalAmount": changed})
        assert answer.status_code == 422, changed
    text = (
        json.dumps(body).replace("1.5", "1.50").replace('"amount": 5', '"amount": 5.0')
    )
    again = phone.generic(
        "POST", ENTRIES, text, "application/json", HTTP_IDEMPOTENCY_KEY="key-1"
    )
    assert (again.status_code, is_replayed(again)) == (201, True)


def test_huge_numbers_are_compared_without_writing_them_out(phone: JSONClient) -> None:
    numbers = ",".join(["1e999999"] * 1_000)
    text = f'{{"name": "t", "ids": [{numbers}]}}'
    answer = phone.generic(
        "POST", TAGS, text, "application/json", HTTP_IDEMPOTENCY_KEY="key-1"
    )
    assert answer.status_code == 400


def test_entry_of_another_version_is_not_changed_under_a_key(phone: JSONClient) -> None:
    assert phone.member
    entry = make_entry(phone.member)
    path = f"{ENTRIES}/{entry.pk}"
    stale = send(phone, "PATCH", path, {"memo": "x"}, HTTP_IF_MATCH='"1000"')
    assert_problem(stale, 412, "VERSION_CONFLICT", "current")
    assert stale.data["current"]["id"] == entry.pk


def test_account_numbers_are_not_stored_in_clear(
    phone: JSONClient, settings: Any
) -> None:
    settings.ACCOUNT_NUMBER_KEYS = [b"k" * 32]
    body = {"name": "w", "kind": "BANK", "accountNumber": "110-234-567890"}
    first = send(phone, "POST", f"{ACCOUNT}/wallets", body)
    stored = RequestKey.objects.get()
    text = bytes(stored.body or b"")
    assert text
    assert b"234" not in text
    assert b"accountNumber" not in text
    settings.ACCOUNT_NUMBER_KEYS = [b"n" * 32, b"k" * 32]
    again = send(phone, "POST", f"{ACCOUNT}/wallets", body)
    assert (again.content, is_replayed(again)) == (first.content, True)
    # Without the key the effect is known, and the answer is not.
    path = f"{ACCOUNT}/wallets/{first.data['id']}"
    assert send(phone, "PATCH", path, {"memo": "x"}, key="k2").data["memo"] == "x"
    settings.ACCOUNT_NUMBER_KEYS = []
    again = send(phone, "PATCH", path, {"memo": "x"}, key="k2")
    assert (again.status_code, again.content, is_replayed(again)) == (200, b"", True)


def test_keys_outlive_a_change_of_the_secret_key(
    phone: JSONClient, settings: Any
) -> None:
    send(phone, "POST", ENTRIES, ENTRY)
    former = settings.SECRET_KEY
    body = RequestKey.objects.values_list("fingerprint", flat=True).get()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new" * 20, [former]
    keyed = keyed_answers.KeyedRequest({}, "key-1", b"digest")
    assert len(keyed_answers.list_fingerprints(keyed)) == 2
    assert len(bytes(body)) == 32


def test_a_body_that_cannot_be_read_is_refused_in_its_turn(phone: JSONClient) -> None:
    assert phone.member
    entry = make_entry(phone.member)

    def patch(entry_id: int, body: str = "{", **extra: Any) -> int:
        answer = phone.generic(
            "PATCH",
            f"{ENTRIES}/{entry_id}",
            body,
            "application/json",
            HTTP_IDEMPOTENCY_KEY="key-1",
            **extra,
        )
        return int(answer.status_code)

    assert patch(2**40) == 404
    assert patch(entry.pk, HTTP_IF_MATCH='"1000"') == 412
    assert patch(entry.pk, HTTP_CONTENT_ENCODING="gzip") == 415
    assert patch(entry.pk) == 400
    assert not RequestKey.objects.exists()


def test_keys_of_dry_runs_are_not_looked_at(phone: JSONClient) -> None:
    path = f"{ACCOUNT}/restore/json?dryRun=1"
    assert send(phone, "POST", path, ROWS, key="a b").status_code == 200
    assert_invalid(
        send(phone, "POST", f"{ACCOUNT}/restore/json", ROWS, key="a b"),
        "Idempotency-Key",
    )


def test_a_reused_key_is_refused_before_a_wrong_restore(phone: JSONClient) -> None:
    send(phone, "POST", ENTRIES, ENTRY)
    path = f"{ACCOUNT}/restore/json?dryrun=1"
    assert_problem(send(phone, "POST", path, ROWS), 422, "IDEMPOTENCY_KEY_REUSED")
