"""Compare our agents with a random forest and a Gaussian process on fingerprints, on real pools of molecules."""
