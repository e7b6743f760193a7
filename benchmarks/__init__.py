"""Speed, as ratios within one run: `make bench` prints a table and writes JSON. Nothing here is asserted by tests."""
