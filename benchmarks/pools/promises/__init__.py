"""Compare what campaigns promise of the molecules that they suggest with what came."""
