"""Rounds on a prepared pool, which is read part by part and never held in memory."""
