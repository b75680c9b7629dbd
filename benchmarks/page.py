"""What a page takes: a status change from the kernel to the drawing, and a reload to the form.

Run it from a checkout, with Chromium installed:

    PYTHONPATH=. python benchmarks/page.py

A real JupyterLab is started. The kernel's clock is the page's, as both run on this machine. A
change is sent by a thread of the kernel, as a panel sends it, and stamped when the kernel makes the
message: what it takes is split into what brings it to the page's socket, what JupyterLab does until
it hands it out, and what the widget and the drawing do. A reload is timed from the browser's
navigation, which is mostly JupyterLab's own loading, and from the moment its notebook stands there;
a form is there when it is laid out and can be filled in.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.browser.labtool import Browser, Notebook, Server

DRAWING = """
from nbgraph.core.driver import EdgeShape, NodeShape, Shape
from nbgraph.notebook.graph_view import GraphView
nodes = tuple(NodeShape(f"n{i}", f"node {i}") for i in range(500))
edges = tuple(EdgeShape(f"n{i}", f"n{i + 10}") for i in range(490))
view = GraphView(Shape("large", nodes, edges, {}))
view.drawn.wait()
marks = {f"n{i}": "done" for i in range(400)}
view.show(marks)
view
"""
PAUSED = """
from pydantic import BaseModel
from nbgraph import END, START, BaseState, Graph, InMemoryStateStore, Panel, interrupt, node

class Desk(BaseState):
    amount: float = 0.0

class Decision(BaseModel):
    approve: bool
    reason: str = ""

@node
def price(state: Desk) -> dict:
    return {"amount": 5.0}

@node
def confirm(state: Desk) -> dict:
    interrupt(id="decision", message="May we?", response_schema=Decision)
    return {}

flow = START >> price >> confirm >> END
panel = Panel(Graph(Desk, state_store=InMemoryStateStore()).flow(flow), "paused", {})
panel
"""
SENDS = """
import threading, time
def change():
    for number in range({times}):
        marks[f"n{{399 + number % 100}}"] = "done"
        marks[f"n{{400 + number % 100}}"] = "running"
        view.show(dict(marks))
        time.sleep(0.15)
threading.Thread(target=change).start()
"""
ARRIVES = """(() => {
    const arrived = (window.arrived = new Map());
    const { addEventListener } = WebSocket.prototype;
    const note = ({ data }) => {
        const at = performance.timeOrigin + performance.now();
        const text = typeof data === "string" ? data : new TextDecoder().decode(data);
        for (const [, id] of text.matchAll(/"msg_id": ?"([^"]+)"/g))
            if (!arrived.has(id)) arrived.set(id, at);
    };
    const { set, get } = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
    Object.defineProperty(WebSocket.prototype, "onmessage", {
        get,
        set(heard) {
            addEventListener.call(this, "message", note);
            set.call(this, heard);
        },
    });
})()"""
LISTENS = """() => {
    window.took = [];
    const kernel = harness.kernel();
    kernel.anyMessage.connect((_, { msg, direction }) => {
        if (direction !== "recv" || msg.header.msg_type !== "comm_msg") return;
        const nodes = msg.content.data.content?.nodes;
        if (!nodes) return;
        const sent = Date.parse(msg.header.date);
        const received = performance.timeOrigin + performance.now();
        const [path] = Object.keys(nodes);
        const group = document.querySelector(`g.node[data-node="${path}"]`);
        const look = new MutationObserver(() => {
            look.disconnect();
            const shown = performance.timeOrigin + performance.now();
            const arrived = window.arrived.get(msg.header.msg_id);
            const split = [shown - sent, arrived - sent, received - arrived, shown - received];
            window.took.push([...split, JSON.stringify(msg).length]);
        });
        look.observe(group, { attributes: true });
    });
}"""
WATCHES = """(() => {
    const seen = (window.seen = {});
    const look = () => {
        const cell = document.querySelector(".jp-Notebook .jp-Cell");
        const field = document.querySelector(".nbgraph-form button.nbgraph-submit");
        if (cell?.clientHeight && !seen.notebook) seen.notebook = performance.now();
        if (field?.clientHeight && !seen.form) seen.form = performance.now();
        if (!seen.form) requestAnimationFrame(look);
    };
    look();
})()"""


def status_changes(notebook: Notebook, times: int) -> Mapping[str, float]:
    """Return what a change of one node of 500 takes, from the kernel's stamp to the drawing."""
    notebook.page.add_init_script(ARRIVES)
    notebook.reload()
    notebook.run_all()
    notebook.page.locator("g.node").first.wait_for()
    notebook.wait_idle()
    notebook.page.evaluate(LISTENS)
    notebook.execute(SENDS.format(times=times))
    notebook.wait_until(f"window.took.length === {times}", seconds=60 + times)
    took: Sequence[Sequence[float]] = notebook.page.evaluate("window.took")
    whole, socket, handed, page, size = zip(*took, strict=True)
    return {
        "kernel to drawing, median ms": statistics.median(whole),
        "9 of 10, ms": statistics.quantiles(whole, n=10)[-1],
        "of it to the page's socket": statistics.median(socket),
        "in JupyterLab": statistics.median(handed),
        "in the widget and the drawing": statistics.median(page),
        "bytes, most": max(size),
    }


def reloads(notebook: Notebook, times: int) -> Mapping[str, float]:
    """Return what it takes after a reload until the form of a paused thread can be filled in."""
    notebook.run_all()
    notebook.page.locator(".nbgraph-form").wait_for()
    notebook.wait_idle()
    notebook.save()
    notebook.page.add_init_script(WATCHES)
    found: list[tuple[float, float]] = []
    for _ in range(times):
        notebook.reload()
        notebook.wait_until("window.seen.form !== undefined")
        seen = notebook.page.evaluate("window.seen")
        found.append((seen["notebook"], seen["form"]))
    return {
        "notebook, median s": statistics.median(first for first, _ in found) / 1_000,
        "form, median s": statistics.median(form for _, form in found) / 1_000,
        "form after notebook, median s": statistics.median(b - a for a, b in found) / 1_000,
        "form after notebook, most s": max(b - a for a, b in found) / 1_000,
    }


def main() -> None:
    """Measure both, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--reloads", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder) / "jupyter") as server:
        browser = Browser()
        try:
            drawing = browser.open(server, server.write("drawing.ipynb", [DRAWING]))
            rows = {"status change, 500 nodes": status_changes(drawing, options.changes)}
            drawing.close()
            paused = browser.open(server, server.write("paused.ipynb", [PAUSED]))
            rows["reload of a paused thread"] = reloads(paused, options.reloads)
        finally:
            browser.close()
    for name, values in rows.items():
        shown = ", ".join(f"{key} {value:.3g}" for key, value in values.items())
        sys.stdout.write(f"{name:>26}  {shown}\n")


if __name__ == "__main__":
    main()
