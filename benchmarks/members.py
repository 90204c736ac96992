"""Create premium members with these ids, and print a session key of each.

With `--sessions COUNT` print the keys of so many new sessions of one member instead.
"""

import json
import sys

import django


def main() -> None:
    django.setup()
    from django.db import connection

    from accounts.models import Member
    from accounts.sessions.store import create_session

    if sys.argv[1] == "--sessions":
        member = Member.objects.get(pk=sys.argv[3])
        sessions = [create_session(member)[0] for _ in range(int(sys.argv[2]))]
        json.dump(sessions, sys.stdout)
        return
    members = Member.objects.bulk_create(
        Member(
            id=member_id,
            login_id=f"member{member_id}",
            display_name=f"Member {member_id}",
            email=f"m{member_id}@example.com",
            password="!",
            plan=Member.Plan.PREMIUM,
            plan_auto_renew=True,
        )
        for member_id in map(int, sys.argv[1:])
    )
    with connection.cursor() as cursor:
        # New members come after them.
        cursor.execute(
            "SELECT setval(pg_get_serial_sequence('member', 'id'), max(id)) FROM member"
        )
    keys = {member.pk: create_session(member)[0] for member in members}
    json.dump(keys, sys.stdout)


if __name__ == "__main__":
    main()
