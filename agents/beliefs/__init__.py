"""What models of every family share: beliefs, acquisition rules, batches, history, likelihood and insight."""
