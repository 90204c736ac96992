"""Create premium members with these ids, and print a session key of each."""

import json
import sys

import django


def main() -> None:
    django.setup()
    from accounts.models import Member
    from accounts.sessions.store import create_session

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
    keys = {member.pk: create_session(member)[0] for member in members}
    json.dump(keys, sys.stdout)


if __name__ == "__main__":
    main()
