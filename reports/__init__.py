"""Bundled reports: one script is one analysis, `build(run) -> Report`; a new one is a new file here."""
