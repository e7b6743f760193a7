"""Run slow operations and untrusted input in separate processes, with limits, progress and cancellation."""
