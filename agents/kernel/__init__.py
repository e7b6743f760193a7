"""Exact Gaussian-process agents on a finite graph set."""
