"""The operators' commands: each explains itself and stands in the manual."""

import io
import re
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import (
    CommandError,
    call_command,
    get_commands,
    load_command_class,
)
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import Member
from administration.metrics_view import render_metrics
from devstack.environment import ROOT
from tests.support.factories import PASSWORD

COMMANDS = {
    file.stem: app.name
    for app in apps.get_app_configs()
    if Path(app.path).is_relative_to(ROOT) and ".venv" not in app.path
    for file in Path(app.path).glob("management/commands/[a-z]*.py")
}
MANUAL = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
WRONG = [
    ("backup_member", "--member", "nobody", "/nowhere/file"),
    ("restore_backup", "--member", "nobody", "/nowhere/file"),
    ("rotate_account_number_key",),
    ("check_jobs",),
]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_command_says_what_it_does_and_for_whom(name: str) -> None:
    command = load_command_class(COMMANDS[name], name)
    text = command.create_parser("manage.py", name).format_help()
    assert command.help, name
    assert len(command.help) > 100, name
    assert name in text


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_command_that_runs_is_ours(name: str) -> None:
    assert get_commands()[name] == COMMANDS[name]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_command_stands_in_the_manual(name: str) -> None:
    assert f"`script/manage {name}" in MANUAL


@pytest.mark.django_db
@pytest.mark.parametrize("arguments", WRONG, ids=lambda arguments: arguments[0])
def test_command_that_cannot_do_its_work_fails_with_a_line(
    arguments: tuple[str, ...],
) -> None:
    with pytest.raises(CommandError) as failure:
        call_command(*arguments, stdout=io.StringIO())
    assert len(str(failure.value).splitlines()) == 1


def test_commands_of_the_contract_are_there() -> None:
    asked = (
        "restore_backup backup_member purge_sessions purge_images expire_plans"
        " run_recurring rotate_account_number_key load_demo_data load_demo createsuperuser"
    )
    assert set(asked.split()) <= set(COMMANDS)


@pytest.mark.parametrize(
    "heading",
    [
        "Health",
        "Metrics",
        "Backups and restore",
        "Keys",
        "Restoring a member",
        "Automatic deletion",
        "Upgrades",
        "The store",
    ],
)
def test_manual_has_its_chapter(heading: str) -> None:
    _, _, text = MANUAL.partition(f"\n## {heading}\n")
    assert len(text.partition("\n## ")[0].split()) > 15


@pytest.mark.parametrize(
    "part",
    ["web", "worker", "Beat", "Valkey", "cluster", "PostgreSQL", "standby", "Citus"],
)
def test_page_about_scaling_says_what_becomes_of_each_part(part: str) -> None:
    assert part in (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")


@pytest.mark.django_db
def test_every_metric_stands_in_the_manual() -> None:
    families = text_string_to_metric_families(render_metrics().decode())
    ours = (f.name for f in families if f.name.startswith("ledger_"))
    names = {name for name in ours if not name.endswith("_created")}
    assert len(names) > 10
    missing = {name for name in names if f"`{name}" not in MANUAL}
    assert missing <= {
        "ledger_job_interval_seconds",  # beside the time that it is compared with
        "ledger_job_last_run_timestamp_seconds",
    }
    assert "ledger_job_interval_seconds" in MANUAL


def test_log_lines_of_the_manual_are_those_that_are_written() -> None:
    alerts = [line for line in MANUAL.splitlines() if line.startswith("| log: ")]
    store = MANUAL.partition("| log | means | do |")[2].partition("\n\n")[0]
    rows = [*alerts, *store.splitlines()]
    quoted = [
        text.partition(" …")[0]
        for row in rows
        for text in re.findall("`([^`]+)`", row.split("|")[1] if "|" in row else "")
    ]
    written = "\n".join(
        file.read_text(encoding="utf-8")
        for app in {path.parent for path in ROOT.glob("*/__init__.py")}
        for file in app.rglob("*.py")
        if "tests" not in file.parts
    )
    said = [text for text in quoted if not text.isdigit() and "_" not in text]
    assert len(said) >= 8
    for text in said:
        assert re.sub(r" \d+$", "", text) in written, text


def create_superuser(monkeypatch: pytest.MonkeyPatch, login_id: str) -> None:
    for name, value in (
        ("LOGIN_ID", login_id),
        ("EMAIL", "chief@example.com"),
        ("PASSWORD", PASSWORD),
    ):
        monkeypatch.setenv(f"DJANGO_SUPERUSER_{name}", value)
    call_command("createsuperuser", "--noinput", stdout=io.StringIO())


@pytest.mark.django_db
def test_login_id_that_is_taken_is_said_in_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    create_superuser(monkeypatch, "chief")
    with pytest.raises(CommandError, match="taken") as failure:
        create_superuser(monkeypatch, "CHIEF")
    assert len(str(failure.value).splitlines()) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("login_id", ["r", "a b", "x" * 51, "이름"])
def test_login_id_of_an_administrator_is_one_by_the_rules_of_sign_up(
    monkeypatch: pytest.MonkeyPatch, login_id: str
) -> None:
    with pytest.raises(CommandError, match="50"):
        create_superuser(monkeypatch, login_id)
    assert not Member.objects.exists()


@pytest.mark.django_db
def test_createsuperuser_makes_an_administrator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    create_superuser(monkeypatch, "chief")
    member = Member.objects.get()
    assert (member.login_id, member.email) == ("chief", "chief@example.com")
    assert (member.role, member.status) == ("ADMIN", "ACTIVE")
    assert member.check_password(PASSWORD)
