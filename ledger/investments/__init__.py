"""Stocks, trades, their prices and the portfolio."""
