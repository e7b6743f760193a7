"""The models that agents are compared with, and the acquisitions by which they choose."""
