"""Documents and consents: asked before a member is written, and of all (spec 2.20)."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.legal import consents
from accounts.models import (
    AuditLogEntry,
    Consent,
    ConsentCount,
    LegalDocument,
    Member,
    RateLimit,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_post
from tests.support.id_tokens import Vouch, log_in
from tests.support.images import draw
from tests.support.problems import assert_invalid, assert_problem

pytestmark = pytest.mark.django_db

PUBLIC = "/api/legal/documents"
ADMIN = "/api/admin/documents"
CONSENTS = "/api/auth/consents"
PAST = datetime(2026, 1, 1, tzinfo=UTC)
BODY = {
    "kind": "TERMS",
    "version": "1",
    "locale": "en",
    "title": "Terms",
    "body": "Be kind.\n\n<b>Really.</b>",
    "effectiveAt": "2026-01-01T00:00:00+00:00",
    "required": True,
}


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


@pytest.fixture
def admin(administrator: Member) -> JSONClient:
    return JSONClient(administrator)


def make_document(kind: str = "TERMS", **fields: Any) -> LegalDocument:
    values: dict[str, Any] = {
        "version": "1",
        "locale": "en",
        "title": f"{kind} in English",
    }
    values |= {"body": "Words", "effective_at": PAST, "required": True}
    return LegalDocument.objects.create(kind=kind, **values | fields)


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def count_rows() -> dict[str, int]:
    """Count the rows of every table but that of attempts, which count when refused."""
    with connection.cursor() as cursor:
        tables = {model._meta.db_table for model in apps.get_models()}
        counts = {}
        tables.discard("rate_limit")
        for table in sorted(tables & set(connection.introspection.table_names(cursor))):
            cursor.execute(f'SELECT count(*) FROM "{table}"')
            counts[table] = cursor.fetchone()[0]
    return counts


def sign_up(consents: Any = None, language: str = "en") -> Any:
    body: dict[str, Any] = {
        "loginId": "minji",
        "password": "gimchi-jjigae-42",
        "displayName": "Minji",
        "email": "minji@example.com",
    }
    if consents is not None:
        body["consents"] = consents
    extra = {"HTTP_ACCEPT_LANGUAGE": language}
    return JSONClient().send("POST", "/api/auth/signup", body, **extra)


def test_document_is_published_and_never_changes(admin: JSONClient) -> None:
    answer = admin.send("POST", ADMIN, BODY)
    assert answer.status_code == 201, answer.content
    assert answer.data == BODY | {"id": answer.data["id"]}
    assert admin.get_json(ADMIN)["results"] == [answer.data]
    assert JSONClient().get_json(PUBLIC) == [answer.data]
    assert_problem(admin.send("POST", ADMIN, BODY), 409, "DUPLICATE")
    assert AuditLogEntry.objects.get().target_label == "TERMS 1 (en)"
    for statement in (
        "UPDATE legal_document SET title = 'x'",
        "DELETE FROM legal_document",
    ):
        with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
            run(statement)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"kind": "LAW"}, "kind"),
        ({"version": ""}, "version"),
        ({"version": "x" * 21}, "version"),
        ({"locale": "fr"}, "locale"),
        ({"title": "x" * 201}, "title"),
        ({"body": ""}, "body"),
        ({"body": "x" * 100_001}, "body"),
        ({"effectiveAt": "soon"}, "effectiveAt"),
        ({"effectiveAt": 5}, "effectiveAt"),
        ({"effectiveAt": "0001-01-01T00:00:00+14:00"}, "effectiveAt"),
        ({"required": "yes"}, "required"),
        ({"kind": "MARKETING"}, "required"),
        ({"law": 1}, "law"),
    ],
)
def test_wrong_document_is_refused_with_its_field(
    admin: JSONClient, fields: Any, field: str
) -> None:
    assert_invalid(admin.send("POST", ADMIN, BODY | fields), field)
    assert not LegalDocument.objects.exists()


def test_newest_of_a_kind_and_language_is_in_force() -> None:
    make_document(version="1")
    newest = make_document(version="2", effective_at=PAST + timedelta(days=1))
    make_document(version="3", effective_at=timezone.now() + timedelta(days=1))
    korean = make_document(version="1", locale="ko", title="약관")
    privacy = make_document("PRIVACY")

    def list_ids(language: str) -> set[int]:
        answer = JSONClient().get(PUBLIC, HTTP_ACCEPT_LANGUAGE=language)
        return {each["id"] for each in answer.json()}

    assert list_ids("en") == {newest.pk, privacy.pk}
    # What there is not in a language is answered in the other one.
    assert list_ids("ko") == {korean.pk, privacy.pk}


def test_sign_up_without_a_required_consent_leaves_no_row() -> None:
    terms = make_document()
    age = make_document("AGE")
    make_document("MARKETING", required=False)
    old = make_document(version="0", effective_at=PAST - timedelta(days=1))
    later = make_document(version="9", effective_at=timezone.now() + timedelta(days=9))
    before = count_rows()
    for given in (None, [], [terms.pk], [terms.pk, old.pk, age.pk]):
        answer = sign_up(given)
        assert_problem(answer, 400, "VALIDATION_ERROR", "documents")
        assert_invalid(answer, "consents")
        kinds = {each["kind"] for each in answer.data["documents"]}
        assert kinds == {"TERMS", "AGE", "MARKETING"}
    RateLimit.objects.all().delete()
    for wrong in (later.pk, 2**62):
        assert_invalid(sign_up([terms.pk, age.pk, wrong]), "consents")
    assert count_rows() == before
    assert sign_up([terms.pk, age.pk]).status_code == 201


def test_sign_up_with_consents_keeps_them() -> None:
    terms, age = make_document(), make_document("AGE", locale="ko")
    assert sign_up([terms.pk, age.pk]).status_code == 201
    member = Member.objects.get(login_id="minji")
    rows = Consent.objects.filter(member=member)
    assert set(rows.values_list("document", "accepted", "ip_address")) == {
        (terms.pk, True, "127.0.0.1"),
        (age.pk, True, "127.0.0.1"),
    }
    session = JSONClient(member).get_json("/api/auth/session")
    assert session["consentsDue"] == []
    # In another language the same version is the same document.
    make_document(locale="ko")
    assert (
        JSONClient(member)
        .get("/api/auth/session", HTTP_ACCEPT_LANGUAGE="ko")
        .json()["consentsDue"]
        == []
    )


@pytest.mark.parametrize("consents", [[0], ["1"], [True], {}, "1", list(range(1, 22))])
def test_wrong_type_of_consents_is_refused(consents: Any) -> None:
    answer = sign_up(consents)
    assert_problem(answer, 400, "VALIDATION_ERROR")
    assert answer.data["errors"][0]["field"].startswith("consents")


def test_without_documents_nothing_is_asked(client: JSONClient) -> None:
    assert sign_up().status_code == 201
    assert client.get_json("/api/auth/session")["consentsDue"] == []
    assert JSONClient().get_json(PUBLIC) == []


def test_login_by_provider_asks_where_it_creates_an_account(
    vouch: Vouch,
) -> None:
    terms = make_document()
    vouch()
    before = count_rows()
    answer = log_in()
    assert_problem(answer, 400, "VALIDATION_ERROR", "documents")
    assert_invalid(answer, "consents")
    assert count_rows() == before
    created = log_in(consents=[terms.pk])
    assert (created.status_code, created.data["created"]) == (200, True)
    assert Consent.objects.get().document == terms
    # A known member is not asked at the login.
    make_document("PRIVACY")
    again = log_in()
    assert (again.status_code, again.data["created"]) == (200, False)


def write_everything(client: JSONClient) -> Iterator[Any]:
    post = make_post(make_member())
    own = make_post(client.member)  # type: ignore[arg-type]
    body = {"title": "Rice", "content": "<p>x</p>", "category": "tips"}
    yield client.send("POST", "/api/board/posts", body)
    yield client.send("PATCH", f"/api/board/posts/{own.pk}", {"title": "x"})
    path = f"/api/board/posts/{post.pk}/comments"
    yield client.send("POST", path, {"content": "x"})
    yield client.post(
        "/api/board/images", {"image": SimpleUploadedFile("a.png", draw())}
    )


def test_board_is_closed_while_a_required_document_is_due_and_the_ledger_is_not(
    client: JSONClient, free_member: Member
) -> None:
    terms = make_document("PRIVACY")
    make_document("COMMUNITY", required=False)
    session = client.get_json("/api/auth/session")
    due = {
        "id": terms.pk,
        "kind": "PRIVACY",
        "version": "1",
        "locale": "en",
        "title": "PRIVACY in English",
        "required": True,
    }
    assert session["consentsDue"] == [due]
    for answer in write_everything(client):
        assert_problem(answer, 403, "CONSENT_REQUIRED", "documents")
        assert answer.json()["documents"] == [due]
    client.create_json("/api/account/wallets", {"name": "W", "kind": "CASH"})
    assert client.send("GET", "/api/board/posts").status_code == 200
    answer = client.send("POST", CONSENTS, {"documentId": terms.pk, "accepted": True})
    assert answer.status_code == 201, answer.content
    for answer in write_everything(client):
        assert answer.status_code < 300, answer.content
    # Taken back, it is due again.
    client.send("POST", CONSENTS, {"documentId": terms.pk, "accepted": False})
    assert client.get_json("/api/auth/session")["consentsDue"] == [due]
    said = [each["accepted"] for each in client.get_json(CONSENTS)]
    assert said == [False, True]


def test_answers_of_a_day_are_limited(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = replace(consents.ANSWERS_LIMIT, max_attempts=2)
    monkeypatch.setattr(consents, "ANSWERS_LIMIT", policy)
    body = {"documentId": make_document().pk, "accepted": True}
    statuses = [client.send("POST", CONSENTS, body).status_code for _ in range(3)]
    assert statuses == [201, 201, 429]


def test_new_version_is_due_again(client: JSONClient, free_member: Member) -> None:
    first = make_document()
    Consent.objects.create(member=free_member, document=first, accepted=True)
    assert client.get_json("/api/auth/session")["consentsDue"] == []
    second = make_document(version="2", effective_at=PAST + timedelta(days=1))
    (due,) = client.get_json("/api/auth/session")["consentsDue"]
    assert due["id"] == second.pk


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"documentId": 2**62}, "documentId"),
        ({"documentId": "1"}, "documentId"),
        ({"documentId": None}, "documentId"),
        ({"accepted": None}, "accepted"),
        ({"accepted": 1}, "accepted"),
    ],
)
def test_wrong_consent_is_refused(client: JSONClient, fields: Any, field: str) -> None:
    body = {"documentId": make_document().pk, "accepted": True}
    assert_invalid(client.send("POST", CONSENTS, body | fields), field)
    assert not Consent.objects.exists()


def test_consent_to_an_old_or_future_document_is_refused(client: JSONClient) -> None:
    old = make_document()
    make_document(version="2", effective_at=PAST + timedelta(days=1))
    later = make_document(version="3", effective_at=timezone.now() + timedelta(days=1))
    for document in (old, later):
        body = {"documentId": document.pk, "accepted": True}
        assert_invalid(client.send("POST", CONSENTS, body), "documentId")


def test_consents_never_change_go_with_the_account_and_stay_counted(
    client: JSONClient,
) -> None:
    document = make_document()
    for accepted in (True, False):
        body = {"documentId": document.pk, "accepted": accepted}
        client.send("POST", CONSENTS, body)
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        Consent.objects.update(accepted=True)
    assert client.send("DELETE", "/api/auth/me").status_code == 204
    assert not Consent.objects.exists()
    counts = ConsentCount.objects.values_list("document", "accepted", "count")
    assert set(counts) == {(document.pk, True, 1), (document.pk, False, 1)}


def test_page_of_a_document_escapes_its_text() -> None:
    make_document(title="Terms & more", body="Be kind.\n\n<script>x</script>")
    make_document(locale="ko", title="약관")
    page = JSONClient().get("/legal/terms")
    text = page.content.decode()
    assert (page.status_code, page.headers["Content-Language"]) == (200, "en")
    assert "Terms &amp; more" in text
    assert "<p>&lt;script&gt;x&lt;/script&gt;</p>" in text
    korean = JSONClient().get("/legal/terms", HTTP_ACCEPT_LANGUAGE="ko")
    assert "약관" in korean.content.decode()
    for path in ("/legal/privacy", "/legal/law", "/legal/TERMS"):
        assert JSONClient().get(path).status_code == 404
    landing = JSONClient().get("/").content.decode()
    assert 'href="/legal/terms"' in landing


def test_meta_names_the_pages_where_the_operator_names_none(settings: Any) -> None:
    settings.PUBLIC_URL = "https://ledger.example"
    legal = JSONClient().get_json("/api/meta")["legal"]
    assert (legal["terms"], legal["privacy"]) == (None, None)
    make_document()
    legal = JSONClient().get_json("/api/meta")["legal"]
    assert legal["terms"] == "https://ledger.example/legal/terms"
    assert legal["privacy"] is None
