"""One agent plays one episode of one environment, and what is recorded of it."""
