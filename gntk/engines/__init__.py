"""Fast ways to compute the paper's network: compiled loops on the CPU, torch on any device."""
