// Draws where a graph stands. It decides nothing: Python says what to show.
//
// One module serves two widgets: a drawing (its model has `svg`) and the keys of a form that
// stands alone. Python puts keys.js in front of this file; what it hears on a page, it hears on the
// outermost `.nbgraph`, once.

const NARROW = 720; // below, the drawing is a window on the graph; the style sheet says the same
const NONE = ["idle", "", ""];

// -- the model: a status that is kept current, and a first word until Python answers

function initialize({ model }) {
  const keep = (message) => {
    if (message.kind === "status" && model.get("svg") !== undefined)
      model.set("status", merged(model.get("status"), message));
  };
  model.on("msg:custom", keep);
  const stop = greet(model);
  return () => {
    stop();
    model.off("msg:custom", keep);
  };
}

function merged(status, message) {
  const old = message.full ? {} : status;
  return {
    nodes: { ...old.nodes, ...message.nodes },
    edges: { ...old.edges, ...message.edges },
    heading: message.heading ?? old.heading,
    note: message.note ?? old.note,
  };
}

// A first message can be lost in a kernel that has just started, so it is said again.
function greet(model) {
  let wait = 250;
  let timer;
  const stop = () => {
    clearTimeout(timer);
    model.off("msg:custom", hear);
  };
  const hear = (message) => {
    if (message.full) stop();
  };
  const say = () => {
    model.send({ kind: "hello" });
    if (wait < 10_000) timer = setTimeout(say, wait);
    wait *= 2;
  };
  model.on("msg:custom", hear);
  say();
  return stop;
}

// -- a view

function render({ model, el }) {
  const live = make("div", { class: "nbgraph-live", role: "status", "aria-live": "polite" });
  const drawing = model.get("svg") === undefined ? null : draw(model, el);
  if (!drawing) el.classList.add("nbgraph-keys");
  el.append(live);
  const hear = (message) => {
    if (message.kind === "status") drawing?.show(message, live);
    if (message.kind === "say") live.textContent = message.text;
    if (message.kind === "focus") focusIn(outermost(el), message.to);
  };
  model.on("msg:custom", hear);
  const forget = whenAttached(el, () => {
    if (drawing && !outermost(el)) el.classList.add("nbgraph");
    const root = outermost(el);
    if (root) listen(root);
    drawing?.fit();
  });
  return () => {
    forget();
    drawing?.close();
    model.off("msg:custom", hear);
  };
}

function whenAttached(el, act) {
  let frame;
  const look = () => (el.isConnected ? act() : (frame = requestAnimationFrame(look)));
  look();
  return () => cancelAnimationFrame(frame);
}

// -- the drawing

function draw(model, el) {
  const heading = make("h3", {});
  const note = make("span", { class: "nbgraph-2nd nbgraph-small" });
  const canvas = make("div", { class: "nbgraph-canvas" });
  const push = make("span", { class: "nbgraph-push" });
  const head = make("div", { class: "nbgraph-row" }, heading, note, push);
  el.append(head, canvas, legend(model.get("marks"), model.get("svg")));
  const graph = new Graph(model, canvas);
  const zooms = [
    ["Zoom out", "M3 8h10", () => graph.zoom(1.25)],
    ["Zoom in", "M3 8h10M8 3v10", () => graph.zoom(0.8)],
    ["Fit", "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3", () => graph.all()],
  ];
  if (model.get("svg")) head.append(...zooms.map((zoom) => iconButton(...zoom)));
  const title = (status) => {
    if (status.heading !== undefined) heading.textContent = status.heading;
    if (status.note !== undefined) note.textContent = status.note;
  };
  const mount = () => {
    graph.mount();
    graph.show(model.get("status"));
    title(model.get("status"));
  };
  mount();
  model.on("change:svg", mount);
  return {
    show(message, live) {
      if (message.full) graph.clear();
      const told = graph.show(message);
      title(message);
      if (!message.full && told.length) live.textContent = told.join("; ");
    },
    fit: () => graph.fit(),
    close() {
      graph.close();
      model.off("change:svg", mount);
    },
  };
}

function iconButton(label, path, act) {
  const icon = shape("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, shape("path", { d: path }));
  const button = make("button", { class: "only quiet", type: "button", title: label, "aria-label": label }, icon);
  button.addEventListener("click", act);
  return button;
}

function legend(marks, svg) {
  const box = make("div", { class: "nbgraph-legend" });
  if (!svg) return box;
  const words = Object.entries(marks).map(([mark, { word }]) => [mark, word]);
  for (const [mark, word] of [...words, ["break", "breakpoint"]])
    box.append(make("span", {}, make("i", { class: `nbgraph-mark ${mark}` }), word));
  return box;
}

class Graph {
  constructor(model, canvas) {
    this.model = model;
    this.canvas = canvas;
    this.nodes = new Map();
    this.edges = new Map();
    this.sized = new ResizeObserver(() => this.fit());
    this.sized.observe(canvas);
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.grab(event));
  }

  close() {
    this.sized.disconnect();
  }

  mount() {
    this.nodes.clear();
    this.edges.clear();
    const text = this.model.get("svg");
    if (!text) return this.canvas.replaceChildren(make("p", { class: "nbgraph-2nd" }, this.model.get("label")));
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    this.svg = document.importNode(parsed, true);
    this.svg.setAttribute("role", "group");
    this.svg.setAttribute("aria-label", this.model.get("label"));
    this.whole = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.origin = this.svg.querySelector("g.graph").getAttribute("transform").match(/translate\(([-\d.]+)[ ,]([-\d.]+)/);
    for (const group of this.svg.querySelectorAll("g.node")) this.addNode(group);
    for (const group of this.svg.querySelectorAll("g.edge")) this.edges.set(group.dataset.edge, group);
    this.focused = [...this.nodes.values()].find((node) => node.name);
    this.focused?.group.setAttribute("tabindex", "0");
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.canvas.replaceChildren(this.svg);
    this.touched = false;
    this.fit();
  }

  addNode(group) {
    const [name, sub] = ["name", "sub"].map((part) => group.querySelector(`.nbgraph-${part}`));
    const [badge, stop] = ["badge", "break"].map((part) => group.querySelector(`.nbgraph-${part}`));
    const text = name ?? group.querySelector("text");
    const place = { x: Number(text.getAttribute("x")), y: Number(text.getAttribute("y")) };
    const node = { path: group.dataset.node, group, name, sub, badge, stop, ...place };
    this.nodes.set(node.path, node);
    if (!name) return;
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "-1");
    group.addEventListener("click", () => this.select(node));
    this.showNode(node, NONE);
  }

  // Show what changed; return what to tell who cannot see it.
  show(status) {
    const told = [];
    for (const [path, state] of Object.entries(status.nodes ?? {})) {
      const node = this.nodes.get(path);
      if (!node) continue;
      if (node.name && node.state[0] !== state[0])
        told.push(`${node.name.textContent} ${this.model.get("marks")[state[0]].word}`);
      this.showNode(node, state);
    }
    for (const [index, mark] of Object.entries(status.edges ?? {})) this.showEdge(index, mark);
    if (!this.touched && this.windowed) this.fit();
    return told;
  }

  clear() {
    for (const node of this.nodes.values()) this.showNode(node, NONE);
    for (const index of this.edges.keys()) this.showEdge(index, null);
  }

  showNode(node, state) {
    const [mark, line, stop] = (node.state = state);
    const { word, badge } = this.model.get("marks")[mark];
    const others = [...node.group.classList].filter((name) => !name.startsWith("nbgraph-is-"));
    node.group.setAttribute("class", [...others, `nbgraph-is-${mark}`].join(" "));
    if (!node.name) return;
    node.group.classList.toggle("nbgraph-has-line", line !== "");
    node.sub.textContent = line;
    node.badge.replaceChildren(...figure(badge));
    node.stop.replaceChildren(...this.dots(node, stop));
    const parts = [node.name.textContent, word, line, stop && `breakpoint ${stop}`];
    node.group.setAttribute("aria-label", parts.filter(Boolean).join(", "));
  }

  dots(node, stop) {
    const top = Number(node.stop.getAttribute("transform").match(/ ([-\d.]+)\)/)[1]);
    const below = 2 * (node.y + 3.6 - top);
    const places = { before: [0], after: [below], "before and after": [0, below] }[stop] ?? [];
    const dot = figure.bind(null, this.model.get("breakpoint"));
    return places.map((y) => shape("g", { transform: `translate(0 ${y})` }, ...dot()));
  }

  showEdge(index, mark) {
    const edge = this.edges.get(index);
    for (const one of ["taken", "skipped"]) edge?.classList.toggle(`nbgraph-edge-${one}`, one === mark);
  }

  select(node) {
    if (this.dragged) return;
    for (const { group } of this.nodes.values()) group.classList.toggle("nbgraph-selected", group === node.group);
    this.focus(node);
    this.model.send({ kind: "select", node: node.path });
  }

  focus(node) {
    this.focused?.group.setAttribute("tabindex", "-1");
    this.focused = node;
    node.group.setAttribute("tabindex", "0");
    node.group.focus();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.focused) return;
    const acts = {
      Enter: () => this.select(this.focused),
      " ": () => this.select(this.focused),
      b: () => this.model.send({ kind: "breakpoint", node: this.focused.path }),
      "+": () => this.zoom(0.8),
      "=": () => this.zoom(0.8),
      "-": () => this.zoom(1.25),
      "−": () => this.zoom(1.25),
      0: () => this.all(),
      ArrowUp: () => this.move(0, -1),
      ArrowDown: () => this.move(0, 1),
      ArrowLeft: () => this.move(-1, 0),
      ArrowRight: () => this.move(1, 0),
    };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  // Go to the node that lies nearest in this direction; a step aside counts double.
  move(right, down) {
    const { x, y } = this.focused;
    const way = (node) => (node.x - x) * right + (node.y - y) * down;
    const aside = (node) => Math.abs((node.x - x) * down) + Math.abs((node.y - y) * right);
    const cost = (node) => way(node) + 2 * aside(node);
    const there = [...this.nodes.values()].filter((node) => node.name && way(node) > 1);
    there.sort((a, b) => cost(a) - cost(b));
    if (there.length) this.focus(there[0]);
  }

  // -- which part is seen

  fit() {
    if (!this.svg || this.touched) return;
    const wide = this.canvas.clientWidth;
    const narrow = (outermost(this.canvas) ?? this.canvas).clientWidth < NARROW;
    const crowded = this.whole[2] > 2 * wide || this.whole[3] > 1300;
    this.windowed = wide > 0 && (narrow || crowded);
    this.canvas.classList.toggle("nbgraph-windowed", this.windowed);
    this.look(this.windowed ? this.around(wide, this.canvas.clientHeight) : this.whole);
  }

  all() {
    this.touched = false;
    this.fit();
    if (this.windowed) this.look(this.whole);
    this.touched = this.windowed;
  }

  // A window in the drawing's own size, on the node that needs a person first.
  around(width, height) {
    const rank = ["waiting", "failed", "running", "done"];
    const nodes = [...this.nodes.values()].filter((node) => node.name);
    const active = rank.map((mark) => nodes.findLast((node) => node.state[0] === mark)).find(Boolean);
    const [x, y, w, h] = this.whole;
    const centre = active ? [active.x + Number(this.origin[1]), active.y + Number(this.origin[2])] : [x + w / 2, y];
    const clamp = (at, size, start, room) =>
      room < size ? start + (room - size) / 2 : Math.min(Math.max(at - size / 2, start), start + room - size);
    return [clamp(centre[0], width, x, w), clamp(centre[1], height, y, h), width, height];
  }

  look(box) {
    this.box = box;
    this.svg.setAttribute("viewBox", box.map((number) => number.toFixed(2)).join(" "));
  }

  zoom(factor) {
    if (!this.svg) return;
    const [x, y, w, h] = this.box;
    const wide = Math.min(Math.max(w * factor, 60), 20 * this.whole[2]);
    const scale = wide / w;
    this.touched = true;
    this.look([x + (w - wide) / 2, y + (h - h * scale) / 2, wide, h * scale]);
  }

  wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.1 : 0.9);
  }

  grab(event) {
    if (event.button !== 0 || !this.svg) return;
    const [x, y, w, h] = this.box;
    const scale = Math.max(w / this.svg.clientWidth, h / this.svg.clientHeight);
    this.dragged = false;
    const drag = (now) => {
      const [right, down] = [now.clientX - event.clientX, now.clientY - event.clientY];
      if (Math.hypot(right, down) > 4) this.dragged = this.touched = true;
      if (this.dragged) this.look([x - right * scale, y - down * scale, w, h]);
    };
    const drop = () => document.removeEventListener("pointermove", drag);
    document.addEventListener("pointermove", drag);
    document.addEventListener("pointerup", drop, { once: true });
  }
}

function figure(parts) {
  return parts.map(([tag, attributes]) => shape(tag, attributes));
}

export default { initialize, render };
