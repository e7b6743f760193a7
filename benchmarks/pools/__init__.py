"""Which molecule next, on real pools: our agents beside a random forest and a Gaussian process on fingerprints."""
