"""Shared by the tests: clients, factories, fakes, fault injection, races."""
