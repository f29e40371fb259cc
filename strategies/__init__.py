"""Bundled strategies: one file is one strategy or one small family; a new one is a new file here."""
