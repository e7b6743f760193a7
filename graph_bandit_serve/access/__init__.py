"""Authorize requests: addresses, keys and the guard in front of the application."""
