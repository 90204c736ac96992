"""Notes that the service writes beside decisions, for staff.

They are stored in English, and translated where a decision is shown.
"""

from django.utils.translation import gettext, gettext_noop

# The undo reads this note of a deletion.
HIDDEN_BEFORE = gettext_noop("It was hidden before.")
# By the undo of a deletion; the author is not told.
HIDDEN_AGAIN = gettext_noop("It is hidden again, as before it was deleted.")
# An author of many rows gets one notice, and an objection to it reopens a case of the
# deed.
TELLS_OF_ALL = gettext_noop("The author is told here of all that was done at once.")
# By the job, not by a moderator who has left.
END_OF_BLINDNESS = gettext_noop("The time for which it was hidden is over.")
NOTES = (HIDDEN_BEFORE, HIDDEN_AGAIN, TELLS_OF_ALL, END_OF_BLINDNESS)


def join_notes(*notes: str) -> str:
    return " ".join(note for note in notes if note)


def translate_note(note: str) -> str:
    """Return a note in the language of the reader; that of a person as it is."""
    rest, translated = note, []
    for each in NOTES:
        if rest.startswith(each):
            rest = rest.removeprefix(each).lstrip()
            translated.append(gettext(each))
    return note if rest else join_notes(*translated)
