"""Who may do what: host, player, camera phone, onlooker; tokens are kept only as hashes."""

import hashlib
import hmac
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from service.errors import BadRequest, NotAllowed, TooMuch
from service.store import Store, TokenRow

Role = Literal["host", "player", "camera", "onlooker"]
ROLES: tuple[Role, ...] = ("host", "player", "camera", "onlooker")
_CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none that are taken for another
_CODE_LENGTH = 8
_MOST_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody who asks: his role, and the session and player that it is bound to."""

    role: Role
    session: str | None = None
    player: str | None = None

    def may_see(self, session: str) -> bool:
        """Whether a session may be shown to him."""
        return self.role == "host" or (
            self.role in ("player", "onlooker") and self.session in (None, session)
        )

    def may_touch(self, session: str) -> bool:
        """Whether he may correct, pause or undo: the host, and those who play."""
        return self.role == "host" or (self.role == "player" and self.session == session)

    def may_send(self, session: str) -> bool:
        """Whether he may send camera pictures."""
        return self.role == "host" or (self.role == "camera" and self.session == session)


class Access:
    """Hands out tokens and recognises them."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._code = "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))
        self._wrong: deque[float] = deque(maxlen=10)
        self._lock = threading.Lock()

    @property
    def code(self) -> str:
        """What the host types on his phone; new at every start, shown only on the terminal."""
        return f"{self._code[:4]}-{self._code[4:]}"

    def pair(self, code: str, label: str) -> str:
        """A host's token for the right pairing code; raises NotAllowed, TooMuch."""
        given = "".join(c for c in code.upper() if c.isalnum())
        with self._lock:
            now = self._clock()
            recent = [moment for moment in self._wrong if now - moment < 60]
            if len(recent) == self._wrong.maxlen:
                raise TooMuch("too many wrong codes; wait a minute")
            if not hmac.compare_digest(given.encode(), self._code.encode()):
                self._wrong.append(now)
                raise NotAllowed("this is not the pairing code; it is shown where Kiebitz runs")
        return self.issue("host", None, None, label)

    def issue(self, role: Role, session: str | None, player: str | None, label: str = "") -> str:
        """A new token; it is shown once and kept only as a hash."""
        if len(self._store.tokens()) >= _MOST_TOKENS:
            raise TooMuch(f"{_MOST_TOKENS} devices are known; remove some first")
        token = secrets.token_urlsafe(32)
        row = TokenRow(_hash(token), role, session, player, label[:60], self._clock())
        self._store.add_token(row)
        return token

    def who(self, token: str) -> Who | None:
        """Whom a token stands for, None where nobody."""
        if not 20 <= len(token) <= 100:
            return None
        row = self._store.token(_hash(token))
        if row is None:
            return None
        if row.role not in ROLES:
            raise BadRequest("this token is of a newer program")
        return Who(row.role, row.session, row.player)

    def drop(self, token: str) -> None:
        """Forget a token; its device has to be invited again."""
        self._store.drop_token(_hash(token))


def _hash(token: str) -> str:
    # A token has 256 random bits: a plain hash cannot be searched through, so no salt is needed.
    return hashlib.sha256(token.encode()).hexdigest()
