"""What a person does in a panel with a node, a failure or the state, as a click does it."""

from __future__ import annotations

import logging
import threading
import time
from typing import Annotated, Any

import ipywidgets
import pytest
from pydantic import Field

from nbgraph import (
    END,
    START,
    BaseState,
    Graph,
    InMemoryStateStore,
    NodeContext,
    Panel,
    add,
    interrupt,
    node,
    subgraph,
    words,
)
from nbgraph.notebook.doing import Activities
from nbgraph.notebook.lean import is_hidden
from tests.notebook.test_panel import found, press, shown, texts, wait_for


class Order(BaseState):
    item: str = ""
    limit: float = 0.5
    kind: str = "plain"
    place: str = "here"
    weight: int = 1
    log: Annotated[list[str], add] = Field(default_factory=list)


def says(name: str) -> Any:
    return node(name=name)(lambda state: {"log": [name]})


def graph_of(*nodes: Any, **options: Any) -> Graph:
    path: Any = START
    for each in nodes:
        path = path >> each
    return Graph(Order, **{"state_store": InMemoryStateStore(), **options}).flow(path >> END)


def failing(name: str = "risk", *, times: int = 1) -> Any:
    left = [times]

    def run(state: Order) -> dict[str, Any]:
        if left[0] and state.limit < 1:
            left[0] -= 1
            raise TimeoutError("no reply in 0.5 s")
        return {"log": [name]}

    return node(name=name)(run)


def failed(panel: Panel) -> Any:
    with pytest.raises(TimeoutError):
        panel.session.settle()
    (card,) = found(panel, "nbgraph-failure") if shown(panel) else ()
    return card


def button(panel: Panel, css_class: str) -> Any:
    (each,) = found(panel, css_class)
    return each


def why(panel: Panel) -> str:
    return " ".join(each.value for each in found(panel, "nbgraph-why"))


# --- the toolbar ------------------------------------------------------------------------------


def test_step_into_stands_there_only_where_there_is_a_sub_graph():
    inner = Graph(Order, name="inner").flow(START >> says("x") >> END)
    without = Panel(graph_of(says("a")), "t")
    with_one = Panel(graph_of(subgraph("sub", inner, share=["log"])), "t")
    assert shown(without)
    assert shown(with_one)
    assert is_hidden(button(without, "nbgraph-into"))
    assert not is_hidden(button(with_one, "nbgraph-into"))


def test_step_into_goes_into_the_sub_graph():
    inner = Graph(Order, name="inner").flow(START >> says("x") >> END)
    panel = Panel(graph_of(says("a"), subgraph("sub", inner, share=["log"])), "t")
    panel.session.breakpoints(before=["sub"])
    panel.start({}).result()
    assert shown(panel)
    press(panel, "nbgraph-into")
    panel.session.settle()
    assert panel.session.next == ("sub/x",)
    assert "Paused before sub/x" in shown(panel)


def test_run_until_is_a_menu_of_the_nodes_and_stops_there():
    panel = Panel(graph_of(says("a"), says("b"), says("c")), "t")
    panel.session.breakpoints(before=["a"])
    panel.start({}).result()
    menu = button(panel, "nbgraph-until")
    assert [name for name, _ in menu.options] == ["Run until…", "a", "b", "c"]
    menu.value = "c"
    panel.session.settle()
    assert (panel.session.next, menu.value) == (("c",), "")


def nested(*outer: Any) -> Graph:
    inner = Graph(Order, name="inner").flow(START >> says("x") >> says("y") >> END)
    return graph_of(*outer, subgraph("sub", inner, share=["log"]), says("c"))


def test_run_until_goes_to_a_node_in_a_sub_graph():
    panel = Panel(nested(says("a")), "t")
    panel.session.breakpoints(before=["a"])
    panel.start({}).result()
    menu = button(panel, "nbgraph-until")
    names = [name for name, _ in menu.options]
    assert names == ["Run until…", "a", "sub", "sub / x", "sub / y", "c"]
    menu.value = "sub/y"
    panel.session.settle()
    assert panel.session.next == ("sub/y",)
    panel.session.breakpoints(before=[])
    panel.inspect("c")
    press(panel, "nbgraph-node-run-until")
    panel.session.settle()
    assert panel.session.next == ("c",)


def test_run_until_here_goes_to_a_node_in_a_sub_graph():
    panel = Panel(nested(says("a")), "t")
    panel.session.breakpoints(before=["a"])
    panel.start({}).result()
    panel.inspect("sub/y")
    press(panel, "nbgraph-node-run-until")
    panel.session.settle()
    assert panel.session.next == ("sub/y",)


def test_a_menu_that_is_held_says_why_and_does_nothing():
    panel = Panel(graph_of(says("a")), "t")
    assert shown(panel)
    button(panel, "nbgraph-until").value = "a"
    assert why(panel) == "Run until needs a start"
    assert panel.session.status == "new"


def test_every_button_that_is_held_says_why_in_its_tooltip_and_when_it_is_pressed():
    panel = Panel(graph_of(says("a")), "t")
    assert shown(panel)
    held = [each for each in found(panel, "nbgraph-held") if not is_hidden(each)]
    assert len(held) >= 6
    assert "Nothing is running" in {each.tooltip for each in held}
    for each in found(panel, "nbgraph-held"):
        if isinstance(each, ipywidgets.Button) and not is_hidden(each):
            panel._toolbar.say("")
            each.click()
            assert why(panel) == each.tooltip


def test_where_nothing_waits_it_says_what_comes_next():
    panel = Panel(graph_of(says("a"), interrupt_before=["a"]), "t", {})
    panel.session.settle()
    assert "Next: a." in shown(panel)


# --- breakpoints and nodes --------------------------------------------------------------------


def test_a_breakpoint_is_set_and_taken_away_and_the_run_heeds_it():
    panel = Panel(graph_of(says("a"), says("b"), says("c")), "t")
    panel.acts.toggle_breakpoint("b", "before")
    panel.acts.toggle_breakpoint("c", "after")
    panel.start({}).result()
    assert panel.session.next == ("b",)
    panel.acts.toggle_breakpoint("c", "after")
    assert panel.session.proceed().result().status == "completed"


def test_a_breakpoint_of_the_graph_is_shown_and_can_be_taken_away():
    panel = Panel(graph_of(says("a"), says("b"), interrupt_before=["b"]), "t")
    assert shown(panel)
    assert panel._graph.get_state()["status"]["nodes"]["b"][2] == "before"
    panel.acts.toggle_breakpoint("b", "before")
    assert panel.start({}).result().status == "completed"


def test_a_breakpoint_everywhere_is_taken_away_at_one_node():
    panel = Panel(graph_of(says("a"), says("b"), interrupt_before="*"), "t")
    panel.acts.toggle_breakpoint("a", "before")
    panel.start({}).result()
    assert panel.session.next == ("b",)


def test_breakpoints_inside_a_sub_graph_are_its_own():
    panel = Panel(nested(says("a")), "t")
    panel.session.breakpoints(before="*", after=["sub/*"])
    view = panel._graph

    def stops() -> dict[str, str]:
        assert shown(panel)
        return {name: state[2] for name, state in view.get_state()["status"]["nodes"].items()}

    inside = dict.fromkeys(("sub/x", "sub/y"), "after")
    assert stops() == {**dict.fromkeys(("a", "sub", "c"), "before"), **inside}
    for path in ("a", "sub", "c"):
        panel.acts.toggle_breakpoint(path, "before")
    panel.acts.toggle_breakpoint("sub/x", "after")
    panel.acts.toggle_breakpoint("sub/x", "before")
    assert stops() == {"sub/x": "before", "sub/y": "after"}
    panel.start({}).result()
    assert panel.session.next == ("sub/x",)
    assert panel.session.proceed().result().data["log"] == ["a", "x", "y", "c"]


def test_a_node_in_a_sub_graph_is_looked_at_part_by_part():
    panel = Panel(nested(says("a")), "t", {})
    panel.session.settle()
    inspector = panel.inspect("sub/y")
    shows = {}
    for part in ("Input", "Update", "Output", "Source"):
        inspector.part = part
        shows[part] = inspector.text
    assert '"a",\n  "x"\n' in shows["Input"]
    assert shows["Update"] == '{\n "log": [\n  "y"\n ]\n}'
    assert '"x",\n  "y"\n' in shows["Output"]
    assert "lambda state" in shows["Source"]
    assert button(panel, "nbgraph-node-retry-from").description == "Retry sub from its start"
    press(panel, "nbgraph-node-retry-from")
    panel.session.settle()
    assert panel.session.state["log"] == ["a", "x", "y", "c"]


def test_the_badge_of_a_folded_sub_graph_leads_to_the_form_of_what_asks_in_it(monkeypatch: Any):
    @node
    def ask(state: Order) -> dict[str, Any]:
        return {"item": interrupt("Which?", id="which")}

    inner = Graph(Order, name="inner").flow(START >> ask >> END)
    panel = Panel(graph_of(subgraph("sub", inner, share=["item"])), "t", {})
    panel.session.settle()
    focused: list[str] = []
    monkeypatch.setattr(panel._graph, "focus_on", focused.append)
    panel.acts.open_form("sub")
    panel.acts.open_form("su")
    assert focused == ["nbgraph-key-sub-ask-which"]


def test_a_node_is_looked_at_part_by_part():
    panel = Panel(graph_of(says("a")), "t", {"item": "lamp"})
    panel.session.settle()
    inspector = panel.inspect("a")
    shows = {}
    for part in ("Input", "Update", "Output", "Error", "Source"):
        inspector.part = part
        shows[part] = inspector.text
    assert '"item": "lamp"' in shows["Input"]
    assert '"a"' in shows["Update"]
    assert '"log": [\n  "a"' in shows["Output"]
    assert shows["Error"] == "It has not failed."
    assert "lambda state" in shows["Source"]
    assert not is_hidden(inspector)
    press(panel, "nbgraph-node-toggle-breakpoint-before")
    assert panel.session.snapshot.position.before == ("a",)


def test_a_failed_node_opens_at_its_error():
    panel = Panel(graph_of(failing()), "t", {})
    failed(panel)
    assert "TimeoutError: no reply" in panel.inspect("risk").text


def test_retry_from_here_runs_a_node_again_on_a_branch():
    runs: list[str] = []

    @node
    def count(state: Order) -> dict[str, Any]:
        runs.append("count")
        return {"log": ["count"]}

    panel = Panel(graph_of(says("a"), count), "t", {})
    panel.session.settle()
    panel.inspect("count")
    press(panel, "nbgraph-node-retry-from")
    panel.session.settle()
    assert (panel.session.branch_id != "main", runs) == (True, ["count", "count"])
    assert panel.session.state["log"] == ["a", "count"]


def test_retry_from_here_is_held_for_a_node_that_has_not_run():
    panel = Panel(graph_of(says("a")), "t")
    panel.inspect("a")
    press(panel, "nbgraph-node-retry-from")
    assert panel.session.status == "new"
    assert "needs a node that has run" in texts(panel)


def test_a_waiting_node_leads_to_its_form(monkeypatch: pytest.MonkeyPatch):
    @node
    def ask(state: Order) -> dict[str, Any]:
        return {"item": interrupt("Which?", id="which")}

    panel = Panel(graph_of(ask), "t", {})
    panel.session.settle()
    focused: list[str] = []
    monkeypatch.setattr(panel._graph, "focus_on", focused.append)
    panel.acts.open_form("ask")
    assert focused == ["nbgraph-key-ask-which"]
    assert panel.forms["ask:which"] in found(panel, focused[0])


# --- a failure --------------------------------------------------------------------------------


def test_a_failure_is_retried_with_an_edited_state():
    panel = Panel(graph_of(failing(times=9)), "t", {})
    card = failed(panel)
    form = card.choose("Edit state, then retry")
    assert form.form.value["limit"] == 0.5
    assert "log" not in form.form.value
    form.form.value = {**form.form.value, "limit": 5}
    assert form.changes == {"limit": 5}
    assert button(panel, "nbgraph-submit").description == "Retry risk with 1 edit"
    assert form.form.submit()
    assert panel.session.settle().data == {
        **Order(limit=5, log=["risk"]).model_dump(),
    }
    assert found(panel, "nbgraph-failure") == [] if shown(panel) else False


def test_a_failure_is_skipped_with_a_value_and_the_run_goes_on():
    panel = Panel(graph_of(failing(times=9), says("b")), "t", {})
    form = failed(panel).choose("Skip with a value")
    assert form.changes == {}
    form.form.value = {"log": ["skipped by hand"]}
    assert form.form.submit()
    assert panel.session.settle().data["log"] == ["skipped by hand", "b"]


def test_a_failure_is_retried_in_a_fork_and_the_thread_stays():
    panel = Panel(graph_of(failing(times=1)), "t", {})
    failed(panel)
    main = panel.session
    press(panel, "nbgraph-retry-fork")
    assert panel.session.settle().status == "completed"
    assert (main.status, panel.session.branch_id != "main") == ("failed", True)


def test_a_failure_is_left_as_it_is_and_taken_up_again():
    panel = Panel(graph_of(failing(times=1)), "t", {})
    failed(panel)
    before = panel.session.history()
    press(panel, "nbgraph-leave")
    assert found(panel, "nbgraph-retry") == []
    assert panel.session.history() == before
    press(panel, "nbgraph-choose")
    press(panel, "nbgraph-retry")
    assert panel.session.settle().status == "completed"


def test_a_failure_says_what_is_done_and_kept():
    order = says("order")
    risk = failing()
    panel = Panel(
        Graph(Order, state_store=InMemoryStateStore()).flow(
            START >> [order, risk], order >> END, risk >> END
        ),
        "t",
    )
    panel.session.breakpoints(before=["risk"])
    panel.start({}).result()
    panel.session.skip("order", {"log": ["order"]})
    panel.session.proceed()
    failed(panel)
    assert "order is done and is kept: it does not run again." in shown(panel)


# --- the state --------------------------------------------------------------------------------


def test_the_state_of_a_paused_thread_is_edited_through_its_reducers():
    panel = Panel(graph_of(says("a"), says("b"), interrupt_before=["b"]), "t", {"item": "lamp"})
    panel.session.settle()
    form = panel.edit()
    assert form in found(panel, "nbgraph-state-form")
    form.form.value = {**form.form.value, "item": "desk", "log": ["by hand"]}
    assert form.changes == {"item": "desk", "log": ["by hand"]}
    assert form.form.submit()
    assert panel.session.state["item"] == "desk"
    assert panel.session.state["log"] == ["a", "by hand"]
    assert found(panel, "nbgraph-state-form") == []


def test_an_edit_that_changes_nothing_records_nothing():
    panel = Panel(graph_of(says("a"), interrupt_before=["a"]), "t", {"item": "lamp"})
    panel.session.settle()
    before = panel.session.history()
    assert panel.edit().form.submit()
    assert panel.session.history() == before
    assert found(panel, "nbgraph-state-form") == []


def test_a_value_that_is_too_large_is_left_out_of_the_form_and_named():
    panel = Panel(graph_of(says("a"), interrupt_before=["a"]), "t", {"item": "x" * 30_000})
    panel.session.settle()
    form = panel.edit()
    assert "item" not in form.form.value
    assert "Too large to be edited here: item" in texts(form)


def test_the_start_form_shows_what_must_be_given_first():
    class Given(BaseState):
        result: str = ""
        order: str
        amount: float

    @node
    def read(state: Given) -> dict[str, Any]:
        return {"result": state.order}

    panel = Panel(Graph(Given, state_store=InMemoryStateStore()).flow(START >> read >> END), "t")
    (box,) = found(panel, "nbgraph-few-2")
    (form,) = found(box, "nbgraph-form")
    form.value = {"order": "A-1042", "amount": 180}
    press(panel, "nbgraph-all")
    assert found(panel, "nbgraph-few-2") == []
    assert form.submit()
    assert panel.session.settle().data["result"] == "A-1042"


# --- what nodes say ---------------------------------------------------------------------------


def test_prints_and_log_records_stand_in_the_log_by_node(capsys: pytest.CaptureFixture[str]):
    def talk(name: str) -> Any:
        def run(state: Order) -> dict[str, Any]:
            print(f"{name} prints")
            logging.getLogger("shop").warning("%s logs", name)
            return {}

        return node(name=name)(run)

    panel = Panel(graph_of(talk("a"), talk("b")), "t", {})
    panel.session.settle()
    assert shown(panel)
    log = panel._log
    assert log.lines._rows[0][1:3] == ("a", "a prints")
    log.node = "b"
    assert [row[1:3] for row in log.lines._rows] == [
        ("b", "b prints"),
        ("b", "WARNING shop: b logs"),
    ]
    log.clear()
    assert log.lines._rows == []
    assert capsys.readouterr().out == ""


def test_a_running_node_shows_how_far_it_is_and_what_it_writes():
    entered, go_on = threading.Event(), threading.Event()

    @node
    def slow(state: Order, ctx: NodeContext) -> dict[str, Any]:
        ctx.emit({"done": 3, "total": 8})
        entered.set()
        go_on.wait(60)
        return {}

    panel = Panel(graph_of(slow), "t", {})
    assert entered.wait(60)
    wait_for(panel, lambda snapshot: bool(snapshot.doing))
    assert shown(panel)
    (cards,) = [each for each in _within(panel) if isinstance(each, Activities)]
    assert cards.shown == (["slow", "3 of 8 · 38%", 3 / 8, ""],)
    assert cards.get_state()["cards"] == [*cards.shown]
    go_on.set()
    panel.session.settle()
    assert shown(panel)
    assert is_hidden(panel._doing)


def test_an_async_node_that_holds_the_loop_is_named_while_it_does(monkeypatch: Any):
    monkeypatch.setattr("nbgraph.core.blocking.LIMIT", 0.05)
    named = threading.Event()

    async def greedy(state: Order) -> dict[str, Any]:
        named.wait(60)
        return {}

    panel = Panel(graph_of(node(name="greedy")(greedy)), "t")
    real, told = panel._toolbar.hold, []

    def hold(name: str | None) -> None:
        real(name)
        if name == "greedy":  # on a busy machine others hold the loop as long as that, too
            told.append(why(panel))
            named.set()

    monkeypatch.setattr(panel._toolbar, "hold", hold)
    panel.start({}).result()
    assert told[0].startswith("greedy holds the loop")


def _within(widget: Any) -> list[Any]:
    return [
        widget,
        *(inner for child in getattr(widget, "children", ()) for inner in _within(child)),
    ]


def test_tokens_and_time_stand_beside_the_heading():
    from nbgraph import words
    from nbgraph.activity import Usage
    from nbgraph.core.position import Position
    from nbgraph.snapshot import Snapshot

    began = time.time()
    done = Snapshot(
        Position(sequence=3, step=1), began=began, ended=began + 145, usage=Usage(1204, 80)
    )
    assert words.note(done) == "2 min 25 s · 1,204 tokens in, 80 out"


def test_where_a_sub_graph_pauses_by_itself_is_shown_and_cannot_be_taken_away_here():
    inner = Graph(Order, name="inner", interrupt_before=["y"], interrupt_after="*")
    inner.flow(START >> says("x") >> says("y") >> END)
    panel = Panel(graph_of(says("a"), subgraph("sub", inner, share=["log"])), "t", {})
    panel.session.settle()
    shape = panel.session.driver.shape
    fixed = {"sub/x": "after", "sub/y": "before and after"}
    assert words.breakpoints(panel.session.snapshot, shape) == fixed
    panel.acts.toggle_breakpoint("sub/y", "before")
    assert "its own Graph says so, with interrupt_before=" in why(panel)
    panel.acts.toggle_breakpoint("sub/x", "before")
    assert panel.session.snapshot.position.before == ("sub/x",)
    both = {**fixed, "sub/x": "before and after"}
    assert words.breakpoints(panel.session.snapshot, shape) == both
    panel.close()


def test_who_edits_the_state_can_go_elsewhere_at_the_same_time():
    panel = Panel(graph_of(says("a"), says("b"), interrupt_before=["b"]), "t", {"item": "lamp"})
    panel.session.settle()
    form = panel.edit()
    form.goto = "a"
    (button,) = found(form, "nbgraph-submit")
    assert button.description == "Go to a"
    form.form.value = {**form.form.value, "item": "desk"}
    assert button.description == "Save 1 change and go to a"
    assert form.form.submit()
    assert panel.session.state["item"] == "desk"
    assert panel.session.next == ("a",)
    form = panel.edit()
    form.goto = "__end__"
    assert form.form.submit()
    assert panel.session.next == ()
    panel.close()


def test_one_task_of_a_superstep_is_run_and_no_other():
    ways = START >> [a := says("a"), b := says("b")], a >> END, b >> END
    graph = Graph(Order, state_store=InMemoryStateStore(), interrupt_before="*").flow(*ways)
    panel = Panel(graph, "t", {})
    panel.session.settle()
    panel.inspect("b")
    press(panel, "nbgraph-node-step")
    panel.session.settle()
    assert panel.session.next == ("a",)
    assert panel.session.state["log"] == []
    assert shown(panel)
    assert is_hidden(button(panel, "nbgraph-node-step"))
    panel.close()


@pytest.mark.parametrize(("how", "pending"), [("dismiss", []), ("again", ["ask:it"])])
def test_a_question_is_dismissed_or_asked_again_beside_its_node(how: str, pending: list[str]):
    @node
    def ask(state: Order) -> dict[str, Any]:
        return {"item": interrupt(id="it", message="What?", default="nothing")}

    panel = Panel(graph_of(ask), "t", {})
    panel.session.settle()
    panel.inspect("ask")
    press(panel, f"nbgraph-node-lapse-{how}")
    panel.session.settle()
    assert list(panel.session.pending) == pending
    assert [each.lapsed for each in panel.session.snapshot.records] == [
        {"dismiss": "dismissed"}.get(how, how)
    ]
    said = {"dismiss": "its default counts", "again": "to be asked again, by"}[how]
    assert said in shown(panel)
    panel.close()
