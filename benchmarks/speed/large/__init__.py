"""Measure the speed of pools with many molecules or products."""
