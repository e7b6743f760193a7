"""Answer programs: the campaigns and what is done with them as JSON, described by OpenAPI."""
