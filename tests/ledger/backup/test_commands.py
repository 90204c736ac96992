"""The commands `backup_member` and `restore_backup`: output and failures."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Member
from ledger.management.commands import backup_member
from ledger.models import Entry
from tests.support.clients import JSONClient
from tests.support.factories import make_entry
from tests.support.workbooks import COUNTS, ENTRY, WHOLE, download_backup, send_json

pytestmark = pytest.mark.django_db


def test_restore_backup_restores_a_file_of_backup_member(
    premium_member: Member,
    other_member: Member,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    send_json(JSONClient(premium_member), WHOLE)
    path = tmp_path / "backup.xlsx"
    call_command("backup_member", "--member", premium_member.login_id, str(path))
    assert f"{COUNTS['entries']} entries" in capsys.readouterr().out
    assert path.stat().st_mode & 0o077 == 0
    call_command("restore_backup", "--member", other_member.login_id, str(path))
    assert "restored" in capsys.readouterr().out
    assert download_backup(other_member) == download_backup(premium_member)


def test_existing_file_is_not_overwritten(
    premium_member: Member, tmp_path: Path
) -> None:
    path = tmp_path / "kept"
    path.write_text("kept")
    with pytest.raises(CommandError, match="exists"):
        call_command("backup_member", "--member", premium_member.login_id, str(path))
    assert path.read_text() == "kept"


def test_dry_run_of_the_command_changes_nothing(
    premium_member: Member, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_entry(premium_member)
    path = tmp_path / "backup.json"
    path.write_text(json.dumps(WHOLE))
    call_command(
        "restore_backup", "--member", premium_member.login_id, str(path), "--dry-run"
    )
    assert "would be restored" in capsys.readouterr().out
    assert Entry.objects.count() == 1


def test_bad_rows_are_listed(premium_member: Member, tmp_path: Path) -> None:
    path = tmp_path / "backup.json"
    path.write_text(json.dumps({"entries": [ENTRY, ENTRY | {"amount": -1}]}))
    with pytest.raises(CommandError, match=r"entries\.3\.amount: "):
        call_command("restore_backup", "--member", premium_member.login_id, str(path))


def test_incomplete_file_is_deleted_after_a_failure(
    premium_member: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(member: Member, file: Any, report: Any, **_: Any) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup_member, "write_backup", fail)
    path = tmp_path / "backup.xlsx"
    with pytest.raises(CommandError, match="No space left"):
        call_command("backup_member", "--member", premium_member.login_id, str(path))
    assert not path.exists()


def test_progress_is_shown(
    premium_member: Member,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backup_member, "PROGRESS_INTERVAL_ROWS", 1)
    make_entry(premium_member)
    path = str(tmp_path / "backup.xlsx")
    call_command("backup_member", "--member", premium_member.login_id, path)
    assert "entries: 1 rows" in capsys.readouterr().err
    call_command("restore_backup", "--member", premium_member.login_id, path)
    shown = capsys.readouterr().err
    assert "reading and checking" in shown
    assert "writing 1 rows" in shown


def test_empty_backup_is_a_failure(premium_member: Member, tmp_path: Path) -> None:
    make_entry(premium_member)
    path = tmp_path / "backup.json"
    path.write_text("{}")
    with pytest.raises(CommandError, match="no row"):
        call_command("restore_backup", "--member", premium_member.login_id, str(path))
    assert Entry.objects.count() == 1


@pytest.mark.parametrize("command", ["backup_member", "restore_backup"])
def test_unknown_member_and_missing_file_are_failures(
    command: str, tmp_path: Path, other_member: Member
) -> None:
    with pytest.raises(CommandError, match="Member not found: nobody"):
        call_command(command, "--member", "nobody", str(tmp_path / "x"))
    path = str(tmp_path / "missing" / "x")
    with pytest.raises(CommandError, match="No such file"):
        call_command(command, "--member", other_member.login_id, path)
