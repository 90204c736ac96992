"""The operators' commands: each explains itself and stands in the manual."""

import io

import pytest
from django.core.management import CommandError, call_command, load_command_class

from config.launch import ROOT

FOLDERS = ROOT.glob("*/management/commands")
COMMANDS = {
    file.stem: file.relative_to(ROOT).parts[0]
    for folder in FOLDERS
    for file in folder.glob("[a-z]*.py")
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
    assert name == "createsuperuser" or len(command.help) > 100, name
    assert name in text


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
        " run_recurring rotate_account_number_key load_demo_data createsuperuser"
    )
    assert set(asked.split()) <= set(COMMANDS)
