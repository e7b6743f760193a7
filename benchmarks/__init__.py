"""Benchmarks. `make bench` measures speed, prints a table and writes JSON; no test asserts these numbers."""
