"""The command `screen`: a program of the user's computes the value of each suggestion, batch by batch."""
