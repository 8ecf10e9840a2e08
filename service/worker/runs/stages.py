"""The stages of a run, and the transitions that lead from one to the next.

new ──add──> added ──know──> waiting ──start──> downloading ──import──> importing ──seed──> seeding

That is the usual path; `STAGES` has all transitions. Which ones a run may take depends on its stage
and on the state of its order to the engine (`ORDERS`). Three of them also set whether all of its
bytes are on the disk (`WHOLE`). Only `next_position` reads these tables, and it refuses what they
don't list.
"""

from enum import Enum, auto
from typing import NamedTuple


class Stage(Enum):
    """What a run is doing; people see the transfer's state instead."""

    NEW = "the engine, or the fetching, hasn't received its order"
    ADDED = "it has the order, and its files are unknown"
    WAITING = "its files are known, and it waits for space, for a slot, or for the next try"
    DOWNLOADING = "its bytes arrive"
    FOLLOWING = "another run fetches the same torrent"
    IMPORTING = "complete, and being imported into the library"
    SEEDING = "in the library, and uploaded to peers"
    LEAVING = "finished; the engine still holds its folder"


class OrderState(Enum):
    """How much of a run's order the engine, or the fetching, has received."""

    NONE = "nothing"
    GIVEN = "it has the order, and stops where the files are known"
    STARTED = "it may download, or seed"
    WITHDRAWN = "it was told to remove the order, and may still use the folder"


class Transition(Enum):
    ADD = auto()  # give the order
    KNOW = auto()  # its files are known
    CHANGE = auto()  # its URL leads to another file than before
    START = auto()  # begin or continue the download
    WAIT = auto()  # stop, and continue later
    FOLLOW = auto()  # wait for the run that fetches the same torrent
    IMPORT = auto()  # every byte is on the disk
    SEED = auto()  # it is in the library
    CHOOSE = auto()  # other files are wanted than before
    START_OVER = auto()  # the bytes on the disk are useless
    LOSE_ENGINE = auto()  # the engine's process died, and a new one knows nothing
    WITHDRAW = auto()  # take the order back
    GONE = auto()  # the engine, or the fetching, no longer uses the folder
    LEAVE = auto()  # it is done, failed, deleted, stopped, or another worker's


def _to(after: Stage, *before: Stage) -> dict[Stage, Stage]:
    return dict.fromkeys(before, after)


def _stay(*stages: Stage) -> dict[Stage, Stage]:
    return {stage: stage for stage in stages}


NEW, ADDED, WAITING, DOWNLOADING, FOLLOWING, IMPORTING, SEEDING, LEAVING = Stage

# For each transition: the stages that allow it, and the stage that each leads to.
STAGES: dict[Transition, dict[Stage, Stage]] = {
    Transition.ADD: _to(ADDED, NEW, WAITING, FOLLOWING),
    Transition.KNOW: _to(WAITING, ADDED),
    Transition.CHANGE: _to(ADDED, DOWNLOADING),
    Transition.START: _to(DOWNLOADING, WAITING),
    Transition.WAIT: _to(WAITING, ADDED, WAITING, DOWNLOADING, IMPORTING)
    | _to(NEW, NEW, FOLLOWING),
    Transition.FOLLOW: _to(FOLLOWING, NEW, ADDED, WAITING, DOWNLOADING, FOLLOWING),
    Transition.IMPORT: _to(IMPORTING, ADDED, WAITING, DOWNLOADING, FOLLOWING),
    Transition.SEED: _to(SEEDING, NEW, IMPORTING),
    Transition.CHOOSE: _to(WAITING, IMPORTING) | _stay(NEW, ADDED, WAITING, DOWNLOADING, FOLLOWING),
    Transition.START_OVER: _to(NEW, ADDED, WAITING, DOWNLOADING, IMPORTING),
    Transition.LOSE_ENGINE: _to(NEW, ADDED, DOWNLOADING, SEEDING)
    | _stay(NEW, WAITING, FOLLOWING, IMPORTING, LEAVING),
    Transition.WITHDRAW: _stay(NEW, WAITING, FOLLOWING, LEAVING),
    Transition.GONE: _stay(NEW, WAITING, FOLLOWING, LEAVING),
    Transition.LEAVE: _to(LEAVING, *Stage),
}

NONE, GIVEN, STARTED, WITHDRAWN = OrderState

# For each transition: the order states that allow it, and the state that each becomes. Transitions
# without a line are allowed with any order, and don't change it.
ORDERS: dict[Transition, dict[OrderState, OrderState]] = {
    Transition.ADD: {NONE: GIVEN},
    Transition.KNOW: {GIVEN: GIVEN},
    Transition.CHANGE: {STARTED: GIVEN},
    Transition.START: {GIVEN: STARTED, STARTED: STARTED},
    Transition.IMPORT: {NONE: NONE, GIVEN: GIVEN, STARTED: STARTED},
    Transition.SEED: {NONE: STARTED, GIVEN: STARTED, STARTED: STARTED},
    Transition.LOSE_ENGINE: {NONE: NONE, GIVEN: NONE, STARTED: NONE, WITHDRAWN: NONE},
    Transition.WITHDRAW: {GIVEN: WITHDRAWN, STARTED: WITHDRAWN},
    Transition.GONE: {WITHDRAWN: NONE},
}

# Whether every byte is on the disk afterwards.
WHOLE = {Transition.IMPORT: True, Transition.CHOOSE: False, Transition.START_OVER: False}


class IllegalTransition(Exception):  # noqa: N818  Errors are nouns here.
    """A transition that no table has: a bug in Ferry, and never a transfer's fault."""


class RunPosition(NamedTuple):
    stage: Stage = NEW
    order: OrderState = NONE
    is_whole: bool = False


def next_position(position: RunPosition, transition: Transition) -> RunPosition:
    """Return where the transition leads. Raises IllegalTransition."""
    stage = STAGES[transition].get(position.stage)
    order = ORDERS[transition].get(position.order) if transition in ORDERS else position.order
    if stage is None or order is None:
        where = f"{position.stage.name} with its order {position.order.name}"
        raise IllegalTransition(f"{transition.name} is not drawn from {where}")
    return RunPosition(stage, order, WHOLE.get(transition, position.is_whole))
