"""Search tables of networks that were all trained: cells of NAS-Bench-201, architectures of NAS-Bench-Graph."""
