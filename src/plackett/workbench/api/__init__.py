"""What the page asks the server, one subject per file."""
