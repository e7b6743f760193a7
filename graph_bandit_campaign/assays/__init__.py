"""Results of other assays and of earlier projects, which teach: read, matched with the pool, told to an agent."""
