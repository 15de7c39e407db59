"""What `kiebitz bench` measures, one subject a module."""
