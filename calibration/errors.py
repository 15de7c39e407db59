"""What can go wrong in calibration, told to the user.

CalibrationError             base; a sentence, what happened and what to try
+-- WrongSize                a picture of another size than the camera was calibrated with
+-- NotFound                 the picture does not show what was looked for (exit code 1)
+-- StoreError               a calibration file that cannot be read
"""

from rules.errors import KiebitzError


class CalibrationError(KiebitzError):
    """Base of all errors of this package."""


class WrongSize(CalibrationError, ValueError):
    """A picture or camera of a size that does not fit the calibration."""


class NotFound(CalibrationError):
    """What was looked for is not in the picture; the message says what was tried."""

    exit_code = 1


class StoreError(CalibrationError, ValueError):
    """A calibration file that is missing, damaged or of an unknown version."""
