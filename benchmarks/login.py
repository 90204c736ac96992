"""Logs members in, in the project of DJANGO_SETTINGS_MODULE; prints their keys.

python -m benchmarks.login MEMBER_ID...  →  {"MEMBER_ID": "key", …}
"""

import json
import sys

import django


def create_service_sessions(member_ids: list[int]) -> dict[int, str]:
    from accounts.models import Member
    from accounts.sessions import create_session

    members = Member.objects.in_bulk(member_ids)
    return {number: create_session(members[number])[0] for number in member_ids}


def create_django_sessions(member_ids: list[int]) -> dict[int, str]:
    """What `django.contrib.auth.login` keeps in a session."""
    from django.conf import settings
    from django.contrib import auth
    from django.utils.module_loading import import_string

    from accounts.models import Member

    store = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
    keys = {}
    for number, member in Member.objects.in_bulk(member_ids).items():
        session = store()
        session[auth.SESSION_KEY] = str(number)
        session[auth.BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[auth.HASH_SESSION_KEY] = member.get_session_auth_hash()
        session.save()
        keys[number] = session.session_key
    return keys


def main() -> None:
    django.setup()
    from django.conf import settings

    is_ours = settings.SESSION_ENGINE == "accounts.sessions"
    start = create_service_sessions if is_ours else create_django_sessions
    json.dump(start([int(word) for word in sys.argv[1:]]), sys.stdout)


if __name__ == "__main__":
    main()
