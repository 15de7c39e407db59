"""Everything that can go wrong between people, the network and the disk.

KiebitzError
+-- ServiceError           a sentence for the user, and the HTTP status it travels with
    +-- PortInUse          another program has the port
    +-- NotFound           no such session, turn, camera or picture
    +-- NotAllowed         this role may not do that
    +-- NotNow             possible, but not in this state of the game
    +-- BadRequest         what was sent cannot be understood
    +-- TooMuch            too large or too often
    +-- NoEvidence         nothing to show yet, such as a picture of a camera without frames
    +-- StoreError         the database cannot be used
        +-- NewerStore     it was written by a newer program
        +-- BadFile        an exported file that cannot be imported
"""

from rules.errors import KiebitzError


class ServiceError(KiebitzError):
    """Base of all errors of this package; `status` is the HTTP status."""

    status = 400


class PortInUse(ServiceError):
    """Another program listens on this port already; with its address if it is Kiebitz."""

    def __init__(self, port: int, kiebitz: str = "") -> None:
        what = "stop the other program"
        if kiebitz:
            what = f"Kiebitz is running already, at {kiebitz}: open that page, stop it"
        super().__init__(f"port {port} is in use; {what}, or give another --port")


class NotFound(ServiceError):
    """There is no such thing."""

    status = 404


class NotAllowed(ServiceError):
    """Whoever asks may not do this."""

    status = 403


class NotNow(ServiceError):
    """The game is not in a state in which this is possible."""

    status = 409


class BadRequest(ServiceError):
    """What was sent cannot be understood."""

    status = 422


class TooMuch(ServiceError):
    """Too large, or too often."""

    status = 429


class NoEvidence(ServiceError):
    """Nothing to show yet."""

    status = 404


class StoreError(ServiceError):
    """The database cannot be used."""

    status = 503


class NewerStore(StoreError):
    """The database was written by a newer program."""


class BadFile(StoreError):
    """A file that is no exported session."""

    status = 422
