"""All pairs of neighbouring letters of a text, and an index of the members'.

Its cost tells the planner to compute it for few rows: about 1 µs a letter.
"""

from django.contrib.postgres.indexes import GinIndex
from django.db import migrations
from django.db.models.functions import Upper

from config.letter_pairs import LetterPairs

CREATE = """
CREATE FUNCTION letter_pairs(words text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 5000 AS $$
    SELECT array_agg(DISTINCT letter || following)
    FROM (
        SELECT letter, lead(letter) OVER (ORDER BY place) AS following
        FROM unnest(string_to_array(words, NULL)) WITH ORDINALITY AS l (letter, place)
    ) neighbours
    WHERE following IS NOT NULL
$$
"""
DROP = "DROP FUNCTION letter_pairs(text)"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_member_search")]
    operations = [
        migrations.RunSQL(CREATE, DROP),
        migrations.AddIndex(
            model_name="member",
            index=GinIndex(
                LetterPairs(Upper("login_id")),
                LetterPairs(Upper("display_name")),
                LetterPairs(Upper("email")),
                name="member_search_pairs",
            ),
        ),
    ]
