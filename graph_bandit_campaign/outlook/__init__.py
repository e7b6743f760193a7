"""Tell what is still to be found, whether it is time to stop, and what is worth measuring twice."""
