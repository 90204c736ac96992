"""The parser of English alerts."""
