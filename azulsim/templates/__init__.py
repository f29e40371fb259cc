"""What `azulsim strategies new` writes: files that work as they are, under another name."""
