"""Sweeps under hard conditions."""
