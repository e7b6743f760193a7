"""Say why graphs are suggested: what each part of the model and each result adds, and what is measured nearby."""
