"""Several goals at once: their definitions, their utilities, and limits on results."""
