"""Posts are found by words of two letters too."""

from django.contrib.postgres.indexes import GinIndex
from django.db import migrations

from config.letter_pairs import LetterPairs


class Migration(migrations.Migration):
    dependencies = [("board", "0002_counters"), ("accounts", "0009_letter_pairs")]
    operations = [
        migrations.AddIndex(
            model_name="post",
            index=GinIndex(LetterPairs("words"), name="board_post_pairs"),
        ),
    ]
