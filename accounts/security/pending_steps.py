"""Steps that wait for their second half: tickets of logins, codes of mails.

The caller has locked the member.
"""

from accounts.models import Code, LoginTicket, Member


def end_codes(member: Member, purpose: str | None = None) -> None:
    codes = Code.objects.filter(member=member)
    if purpose is not None:
        codes = codes.filter(request__purpose=purpose)
    codes.delete()


def end_pending_steps(member: Member) -> None:
    """End codes and tickets: another role or status revives none of them."""
    end_codes(member)
    LoginTicket.objects.filter(member=member).delete()
