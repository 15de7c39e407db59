"""From frames to a believed position: sources, stillness, reading, following."""
