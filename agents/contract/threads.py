"""Re-export `gntk.one_thread`, so that code that plays agents needs only the contract."""

from gntk import one_thread as one_thread
