"""Import of files of other apps, banks and cards (spec 3.29)."""
