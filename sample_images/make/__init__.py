"""Makes the sample pictures: the virtual table's scenes, path-traced with Mitsuba."""
