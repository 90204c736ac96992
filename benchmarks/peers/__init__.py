"""Peers: two answers of the service on frameworks that do less than Django."""
