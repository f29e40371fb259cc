"""What `azulsim strategies new` and `experiments new` write: files that work as they are, under another name."""
