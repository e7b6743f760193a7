"""Play campaigns on dirty tables of two goals and a limit, refuse their typing errors, and kill them."""
