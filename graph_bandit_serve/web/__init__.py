"""Web pages of the campaigns, with forms to change them."""
