"""What people touch: commands, the page, storage and live sessions."""

__version__ = "0.1.0"
