"""Agents for pools of molecules: a Gaussian process on fingerprints and on what a trained network has learnt."""
