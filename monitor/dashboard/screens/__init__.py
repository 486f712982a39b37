"""The screens: the main one, and those laid over it."""
