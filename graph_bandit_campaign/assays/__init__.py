"""Use results of other assays and of earlier projects for training: read them and match them with the pool."""
