"""Periodic jobs: the record of each run, the runner, the Beat scheduler."""
