"""One thread, for whoever plays an agent: `gntk` has it, and laboratories see the contract alone."""

from gntk import one_thread as one_thread
