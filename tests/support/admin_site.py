"""Pages of Django admin, and a browser that is logged in."""

from typing import Any

from accounts.models import Member
from tests.support.clients import JSONClient

MEMBERS = "/admin/accounts/member/"
TREE = "/admin/ledger/defaultcategory/"
SETTINGS = "/admin/accounts/applicationsetting/"
RUNS = "/admin/jobs/jobrun/"
TASKS = "/admin/django_celery_beat/periodictask/"
LOG = "/admin/accounts/auditlogentry/"
POSTS = "/admin/board/post/"
COMMENTS = "/admin/board/comment/"
IMAGES = "/admin/board/image/"


def logged_in_browser(member: Member) -> JSONClient:
    """Return a browser in which the member is logged in."""
    browser = JSONClient()
    browser.cookies["sessionid"] = JSONClient(member).token
    return browser


def get_page(browser: JSONClient, path: str, **query: Any) -> str:
    response = browser.get(path, query)
    assert response.status_code == 200, (response.status_code, path)
    return response.content.decode()


def run_action(browser: JSONClient, name: str, *members: Member, **more: Any) -> Any:
    return run_action_on(browser, MEMBERS, name, *members, **more)


def run_action_on(
    browser: JSONClient, path: str, name: str, *rows: Any, **more: Any
) -> Any:
    """Return the answer to an action of the list at this path, on these rows."""
    data = {"action": name, "_selected_action": [row.pk for row in rows]} | more
    return browser.post(path, data)
