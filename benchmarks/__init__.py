"""Benchmarks; README.md lists their questions."""
