"""Answer people: the campaigns as pages, and forms to change them."""
