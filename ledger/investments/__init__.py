"""Stocks, trades, prices and the portfolio."""
