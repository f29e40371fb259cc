"""Bundled experiments: one TOML file is one question; a new one is a new file here."""
