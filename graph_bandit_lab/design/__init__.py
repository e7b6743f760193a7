"""What is to be played: settings, grids, sweep files, and the keys of repetitions."""
