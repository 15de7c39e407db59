"""What can go wrong between a camera and a position, told to the user.

VisionError                  base; a sentence, what happened and what to try
+-- SourceError              a source that cannot be opened, or a recording that cannot be read
    +-- SourceLost           a source that gave frames and gives none any more; it is tried again
+-- NoPicture                there is no picture to read, or one of another size
"""

from rules.errors import KiebitzError


class VisionError(KiebitzError):
    """Base of all errors of this package."""


class SourceError(VisionError):
    """A source that cannot be opened or read; the message says what to try."""


class SourceLost(SourceError):
    """No frame came any more: unplugged, out of reach, or asleep."""


class NoPicture(VisionError):
    """There is nothing to read: no picture, or one of another size than was calibrated."""
