"""What an agent is: protocol, inputs, settings, saved state, and the checks that hold an agent against it."""
