"""Operations and their undo (spec 3.27)."""
