"""Create members with these ids through the model, which fills all columns.

python -m benchmarks.members MEMBER_ID...
"""

import sys

import django


def main() -> None:
    django.setup()
    from accounts.models import Member

    Member.objects.bulk_create(
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


if __name__ == "__main__":
    main()
