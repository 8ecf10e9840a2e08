"""The stages of a run: the tables, and the code that reads them."""

import ast
from itertools import product
from pathlib import Path

import pytest

import service
from service.models import Transfer
from service.transfers.download_folders import download_folder
from service.worker.runs.run import Run
from service.worker.runs.stages import (
    ORDERS,
    STAGES,
    IllegalTransition,
    OrderState,
    RunPosition,
    Stage,
    Transition,
    next_position,
)
from tests.cases import each_case
from tests.service.builders import NOW

SERVICE = Path(service.__file__).parent
OTHERS = {"torrents", "media", "migrations"}
POSITIONS = [RunPosition(*each) for each in product(Stage, OrderState, (False, True))]


def a_run(position=None):
    run = Run(Transfer(), download_folder(1), NOW, NOW)
    run._position = position or RunPosition()  # noqa: SLF001  Some positions are unreachable.
    return run


def reachable():
    found, fresh = set(), {RunPosition()}
    while fresh:
        found |= fresh
        fresh = {after for each in fresh for after in legal(each).values()} - found
    return found


def legal(position):
    """Return the legal transitions, and the position that each leads to."""
    found = {}
    for transition in Transition:
        try:
            found[transition] = next_position(position, transition)
        except IllegalTransition:
            continue
    return found


# The tables


@each_case("position, transition", product(POSITIONS, Transition))
def test_every_step_leads_where_it_is_drawn_or_is_refused_and_changes_nothing(position, transition):
    run = a_run(position)
    stage = STAGES[transition].get(position.stage)
    orders = ORDERS.get(transition, dict(zip(OrderState, OrderState, strict=True)))
    if stage and position.order in orders:
        run.take(transition)
        assert (run.stage, run.order) == (stage, orders[position.order])
    else:
        with pytest.raises(
            IllegalTransition, match=f"{transition.name} is not drawn from {run.stage.name}"
        ):
            run.take(transition)
        assert (run.stage, run.order, run.is_whole) == position


def test_every_step_is_drawn_and_every_stage_is_reached():
    assert set(STAGES) == set(Transition)
    assert {position.stage for position in reachable()} == set(Stage)
    assert {transition for position in reachable() for transition in legal(position)} == set(
        Transition
    )


def test_a_run_can_be_left_and_the_engine_lost_at_any_time():
    assert all(
        {Transition.LEAVE, Transition.LOSE_ENGINE} <= legal(each).keys() for each in POSITIONS
    )


def test_terminal_stages_are_final_and_every_stage_can_be_released():
    for each in reachable():
        if each.stage is Stage.LEAVING:
            assert {after.stage for after in legal(each).values()} == {Stage.LEAVING}
            is_held = each.order in (OrderState.GIVEN, OrderState.STARTED)
            assert (Transition.WITHDRAW in legal(each)) is is_held


@each_case(
    "stage, orders",
    [
        (Stage.ADDED, {OrderState.GIVEN}),
        (Stage.DOWNLOADING, {OrderState.STARTED}),
        (Stage.SEEDING, {OrderState.STARTED}),
        (Stage.IMPORTING, {OrderState.NONE, OrderState.GIVEN, OrderState.STARTED}),
    ],
)
def test_a_stage_determines_what_the_engine_has(stage, orders):
    assert {each.order for each in reachable() if each.stage is stage} == orders


def test_an_importing_run_stays_complete_until_it_starts_over():
    assert all(each.is_whole for each in reachable() if each.stage is Stage.IMPORTING)
    over = [legal(each).get(Transition.START_OVER) for each in reachable()]
    assert any(over)
    assert not any(after.is_whole for after in over if after)


# The code that reads them

ONLY_TAKE = {"stage", "order", "is_whole", "_position"}


def changes_of_stage(node, function=""):
    """Yield functions that assign what only `Run.take` may, or call `next_position`."""
    if is_change(node):
        yield function
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = node.name
    for child in ast.iter_child_nodes(node):
        yield from changes_of_stage(child, function)


def is_change(node):
    match node:
        case ast.Attribute(attr=attr, ctx=ast.Store() | ast.Del()):
            return attr in ONLY_TAKE
        case ast.Call(func=ast.Name("setattr") | ast.Attribute(attr="__setattr__")):
            return any(
                isinstance(each, ast.Constant) and each.value in ONLY_TAKE for each in node.args
            )
        case ast.Call(func=ast.Name("next_position") | ast.Attribute(attr="next_position")):
            return True
    return False


def test_only_one_method_changes_the_stage_of_a_run():
    """The torrents of the engine have separate stages, in a process without runs."""
    found = {
        (path.name, name)
        for path in SERVICE.rglob("*.py")
        if not OTHERS & set(path.relative_to(SERVICE).parts)
        for name in changes_of_stage(ast.parse(path.read_text()))
    }
    assert found == {("run.py", "take")}


@each_case(
    "source",
    [
        "run.stage = Stage.NEW",
        "run.stage, run.remainder = Stage.NEW, None",
        "with it as run.stage: pass",
        "run._position: Position = Position()",
        "del run.order",
        "setattr(run, 'is_whole', True)",
        "object.__setattr__(run, '_position', Position())",
        "stages.next_position(Position(), Transition.ADD)",
    ],
)
def test_no_change_of_a_stage_escapes(source):
    assert list(changes_of_stage(ast.parse(source))) == [""]
