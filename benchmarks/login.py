"""Create a session of each member and print the keys as JSON.

The sessions are those of the project that DJANGO_SETTINGS_MODULE names.

    python -m benchmarks.login MEMBER_ID...  →  {"MEMBER_ID": "key", …}
"""

import json
import sys

import django


def create_service_sessions(member_ids: list[int]) -> dict[int, str]:
    from accounts.models import Member
    from accounts.sessions import create_session

    members = Member.objects.in_bulk(member_ids)
    return {
        member_id: create_session(members[member_id])[0] for member_id in member_ids
    }


def create_django_sessions(member_ids: list[int]) -> dict[int, str]:
    """Create sessions with the data that `django.contrib.auth.login` stores."""
    from django.conf import settings
    from django.contrib import auth
    from django.utils.module_loading import import_string

    from accounts.models import Member

    store = import_string(f"{settings.SESSION_ENGINE}.SessionStore")
    keys = {}
    for member_id, member in Member.objects.in_bulk(member_ids).items():
        session = store()
        session[auth.SESSION_KEY] = str(member_id)
        session[auth.BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
        session[auth.HASH_SESSION_KEY] = member.get_session_auth_hash()
        session.save()
        keys[member_id] = session.session_key
    return keys


def main() -> None:
    django.setup()
    from django.conf import settings

    is_service = settings.SESSION_ENGINE == "accounts.sessions"
    create_sessions = create_service_sessions if is_service else create_django_sessions
    json.dump(create_sessions(list(map(int, sys.argv[1:]))), sys.stdout)


if __name__ == "__main__":
    main()
