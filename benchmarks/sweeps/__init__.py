"""What sweeps say, and how they fare where drivers are killed or runs are many."""
