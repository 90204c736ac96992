"""`script/manage distribute` on a database that is not ready for it."""

import pytest
from django.core.management import CommandError, call_command

from tests.support.citus import has_citus

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(has_citus(), reason="the server has the extension")
def test_database_without_the_extension_is_refused_with_one_line() -> None:
    with pytest.raises(CommandError) as refused:
        call_command("distribute")
    assert str(refused.value) == "The database does not have the extension citus."
