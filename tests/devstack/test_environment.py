"""The surroundings of a command: the settings file, the port and the secret key."""

import subprocess
import sys
from pathlib import Path

import pytest

from devstack.environment import (
    ROOT,
    StartupError,
    find_data_dir,
    get_or_create_secret_key,
    read_env_file,
    read_port,
    read_setting_files,
    read_settings,
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_settings_file_is_names_and_values(tmp_path: Path) -> None:
    text = (
        "# a comment\n\nDEBUG=true\nSECRET_KEY='a = b # c'\nREDIS_URL=\n export A=1\n"
    )
    assert read_env_file(write(tmp_path / ".env", text)) == {
        "DEBUG": "true",
        "SECRET_KEY": "a = b # c",
        "A": "1",
    }


def test_settings_file_may_be_missing(tmp_path: Path) -> None:
    assert read_env_file(tmp_path / ".env") == {}


def test_line_that_is_no_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartupError, match="not NAME=value: nonsense"):
        read_env_file(write(tmp_path / ".env", "nonsense\n"))


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "８０"])
def test_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(StartupError, match="PORT must be a number from 1 to 65535"):
        read_port({"PORT": port})


def test_relative_data_folder_begins_at_the_repository() -> None:
    assert find_data_dir({}) == ROOT / "var"
    assert find_data_dir({"DATA_DIR": "/srv/ledger"}) == Path("/srv/ledger")


def test_secret_key_is_made_once_and_for_this_account_only(tmp_path: Path) -> None:
    key = get_or_create_secret_key(tmp_path / "data")
    assert len(key) > 50
    assert get_or_create_secret_key(tmp_path / "data") == key
    assert (tmp_path / "data" / "secret_key").stat().st_mode & 0o077 == 0


def test_exit_code_of_the_command_is_passed_on(tmp_path: Path) -> None:
    stores = {
        "DATABASE_URL": "postgresql://ledger@127.0.0.1:1/x",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "DATA_DIR": str(tmp_path),
    }
    command = [sys.executable, "-m", "devstack.environment", sys.executable, "-c"]
    script = "import os, sys; sys.exit(len(os.environ['SECRET_KEY']) > 50 and 7)"
    ended = subprocess.run([*command, script], cwd=ROOT, env=stores, check=False)
    assert ended.returncode == 7


def test_server_given_for_the_tests_is_used_instead_of_an_ephemeral_one() -> None:
    given = {
        "TEST_DATABASE_URL": "postgresql://ledger@db.example/ledger",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    code = "import os; print(os.environ['DATABASE_URL'])"
    command = [sys.executable, "-m", "devstack.environment", "--ephemeral"]
    command += [sys.executable, "-c", code]
    # The one of the service is never that of the tests by accident.
    variables = given | {"DATABASE_URL": "postgresql://ledger@live.example/ledger"}
    result = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == given["TEST_DATABASE_URL"]


def test_mails_are_files_of_the_data_folder_unless_the_service_is_public(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("devstack.environment.ROOT", tmp_path)
    for name in ("MAIL_URL", "PUBLIC_URL", "DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert read_settings()["MAIL_URL"] == f"file:{tmp_path / 'var' / 'mail'}"
    monkeypatch.setenv("MAIL_URL", "smtps://mail.example")
    assert read_settings()["MAIL_URL"] == "smtps://mail.example"
    monkeypatch.delenv("MAIL_URL")
    # There, a member would wait in vain.
    monkeypatch.setenv("PUBLIC_URL", "https://ledger.example")
    assert "MAIL_URL" not in read_settings()


def test_settings_that_devstack_reads_may_be_in_files(tmp_path: Path) -> None:
    secret = write(tmp_path / "url", "postgresql://ledger@db.example/ledger\n")
    given = {"DATABASE_URL_FILE": str(secret), "SECRET_KEY": "k", "OTHER_FILE": "x"}
    assert read_setting_files(given) == {
        "DATABASE_URL": "postgresql://ledger@db.example/ledger",
        "SECRET_KEY": "k",
        "OTHER_FILE": "x",
    }
    with pytest.raises(StartupError, match=r"REDIS_URL_FILE: .*: No such file"):
        read_setting_files({"REDIS_URL_FILE": str(tmp_path / "none")})
