"""Makes the members, through their model, whatever columns it has by now.

python -m benchmarks.members ID...
"""

import sys

import django


def main() -> None:
    django.setup()
    from accounts.models import Member

    Member.objects.bulk_create(
        Member(
            id=number,
            login_id=f"member{number}",
            display_name=f"Member {number}",
            email=f"m{number}@example.com",
            password="!",
            plan=Member.Plan.PREMIUM,
            plan_auto_renew=True,
        )
        for number in map(int, sys.argv[1:])
    )


if __name__ == "__main__":
    main()
