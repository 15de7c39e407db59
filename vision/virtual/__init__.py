"""The virtual table: pictures of any position, as webcams in somebody's living room see it."""
