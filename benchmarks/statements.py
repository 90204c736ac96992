"""Count the SQL statements of list pages, with Django's test client.

python -m benchmarks.statements PATH MEMBER_ID SIZE...  →  [count, …]
"""

import json
import sys

import django


def main() -> None:
    django.setup()
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from accounts.models import Member
    from accounts.sessions import create_session

    path, member_id, *sizes = sys.argv[1:]
    key, _ = create_session(Member.objects.get(pk=member_id))
    client = Client(headers={"Authorization": f"Bearer {key}", "Host": "127.0.0.1"})
    client.get(path)  # the first request caches the session
    counts = []
    for size in sizes:
        with CaptureQueriesContext(connection) as queries:
            response = client.get(path, {"size": size})
        if len(response.json()["results"]) != int(size):
            raise AssertionError(response.content[:300])
        counts.append(len(queries))
    json.dump(counts, sys.stdout)


if __name__ == "__main__":
    main()
