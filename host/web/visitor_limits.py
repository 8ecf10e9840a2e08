"""Reserve threads of a web process, so that no client can take all of them."""

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

HEALTH_SLOTS = 8

Claim = dict[Hashable, int]
"""The counters that a connection adds to, each with its maximum."""


class VisitorKind(Enum):
    STRANGER = auto()
    HEALTH_CHECK = auto()
    SIGNED_IN = auto()


@dataclass(frozen=True)
class Visitor:
    network: str
    kind: VisitorKind = VisitorKind.STRANGER


class ConnectionSlots:
    """Slots for connections, limited by the kind of visitor.

    Signed-in people may take all of `most` slots; strangers three quarters, and each network one
    quarter. Health checks have extra slots, one per network, for when strangers have taken theirs.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: Counter[Hashable] = Counter()

    def take(self, visitor: Visitor) -> Claim | None:
        for claim in self._claims(visitor):
            if all(self._counts[key] < most for key, most in claim.items()):
                self._counts.update(claim.keys())
                return claim
        return None

    def give_back(self, claim: Claim) -> None:
        self._counts.subtract(claim.keys())
        for key in [key for key in claim if not self._counts[key]]:
            del self._counts[key]

    def _claims(self, visitor: Visitor) -> Iterator[Claim]:
        everybody: Claim = {"everybody": self._most}
        if visitor.kind is VisitorKind.SIGNED_IN:
            yield everybody
            return
        of_network = {visitor.network: quarter(self._most)}
        yield everybody | {VisitorKind.STRANGER: self._most - quarter(self._most)} | of_network
        if visitor.kind is VisitorKind.HEALTH_CHECK:
            yield {
                VisitorKind.HEALTH_CHECK: HEALTH_SLOTS,
                (VisitorKind.HEALTH_CHECK, visitor.network): 1,
            }


def quarter(most: int) -> int:
    return max(1, most // 4)
