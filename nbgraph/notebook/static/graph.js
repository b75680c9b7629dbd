// The nodes and edges of a drawing, or the list in its place. Between focus.js and graph_view.js.

const NARROW = 720; // below, what is not low is a window on the graph; the style sheet says the same
const [LOW, HIGHEST] = [300, 640]; // of the whole drawing, as the style sheet says
const SMALLEST = 0.7; // how far a drawing is made smaller before it becomes a window
const NONE = ["idle", "", ""];

class Graph {
  constructor(model, canvas) {
    this.model = model;
    this.canvas = canvas;
    this.nodes = new Map();
    this.edges = new Map();
    this.sized = new ResizeObserver(() => this.fit());
    this.sized.observe(canvas);
    this.query = "";
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.grab(event));
  }

  close() {
    this.sized.disconnect();
    cancelAnimationFrame(this.following);
  }

  mount() {
    const was = this.focused?.path;
    const hadFocus = this.canvas.contains(document.activeElement);
    this.nodes.clear();
    this.edges.clear();
    this.svg = null;
    if (this.model.get("svg")) this.mountDrawing();
    else this.mountList();
    const named = [...this.nodes.values()].filter((node) => node.name);
    this.focused = named.find((node) => node.path === was) ?? named[0];
    this.focused?.group.setAttribute("tabindex", "0");
    if (hadFocus) this.focused?.group.focus();
    this.find(this.query);
  }

  // Where there is no picture, the nodes are a list that is used in the same way.
  mountList() {
    const list = make("ul", { class: "nbgraph-list", "aria-label": this.model.get("label") });
    this.canvas.classList.remove("nbgraph-windowed");
    this.canvas.replaceChildren(make("p", { class: "nbgraph-2nd" }, this.model.get("label")), list);
    list.addEventListener("keydown", (event) => this.key(event));
    this.model.get("listed").forEach(([path, label], place) => {
      const name = make("span", { class: "nbgraph-name" }, label);
      const [sub, badge, stop] = ["nbgraph-sub", "nbgraph-mark idle", "nbgraph-stop"].map((kind) => make("span", { class: kind }));
      const group = make("li", {}, badge, name, sub, stop);
      list.append(group);
      this.take({ path, group, name, sub, badge, stop, x: 0, y: 20 * place, row: true });
    });
  }

  mountDrawing() {
    const text = this.model.get("svg");
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    this.svg = document.importNode(parsed, true);
    this.svg.setAttribute("role", "group");
    this.svg.setAttribute("aria-label", this.model.get("label"));
    this.whole = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.origin = this.svg.querySelector("g.graph").getAttribute("transform").match(/translate\(([-\d.]+)[ ,]([-\d.]+)/);
    for (const group of this.svg.querySelectorAll("g.node")) this.addNode(group);
    for (const group of this.svg.querySelectorAll("g.edge")) this.edges.set(group.dataset.edge, group);
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.canvas.replaceChildren(this.svg);
    this.touched = false;
    this.unfitted = true;
    this.fit();
  }

  addNode(group) {
    const [name, sub] = ["name", "sub"].map((part) => group.querySelector(`.nbgraph-${part}`));
    const [badge, stop] = ["badge", "break"].map((part) => group.querySelector(`.nbgraph-${part}`));
    const text = name ?? group.querySelector("text");
    const place = { x: Number(text.getAttribute("x")), y: Number(text.getAttribute("y")) };
    const node = { path: group.dataset.node, group, name, sub, badge, stop, ...place };
    this.take(node);
    if (!name) return;
    node.below = 2 * (node.y + 3.6 - placed(stop)[1]);
    node.room = placed(badge)[0] - placed(stop)[0] + 11;
    this.addHandles(node);
  }

  take(node) {
    this.nodes.set(node.path, node);
    if (!node.name) return;
    node.group.setAttribute("role", "button");
    node.group.setAttribute("tabindex", "-1");
    node.group.addEventListener("click", () => this.select(node));
    node.group.addEventListener("focus", () => this.hold(node));
    this.showNode(node, NONE);
  }

  // What a click on a part of a node does, beside selecting it.
  addHandles(node) {
    const [x, y] = placed(node.stop);
    const handle = (kind, at, act, ...inside) => {
      const part = shape("g", { class: kind, ...at }, ...inside);
      part.addEventListener("click", (event) => {
        if (this.dragged) return;
        event.stopPropagation();
        act();
      });
      node.group.append(part);
    };
    for (const [side, down] of [["before", 0], ["after", node.below]]) {
      const title = shape("title", {}, `Pause ${side} ${node.name.textContent}`);
      const at = { cx: x, cy: y + down }; // no group of its own place: a page layers each of those
      const ghost = [["hit", 11], ["ghost", 5]].map(([name, r]) => shape("circle", { class: `nbgraph-m-${name}`, ...at, r }));
      handle("nbgraph-handle", {}, () => this.say("breakpoint", node, { side }), title, ...ghost);
    }
    node.badge.addEventListener("click", (event) => {
      if (node.state[0] !== "waiting" || this.dragged) return;
      event.stopPropagation();
      this.say("open", node);
    });
    const fold = this.model.get("folds")[node.path];
    if (fold === undefined) return;
    const [right] = placed(node.badge);
    const title = shape("title", {}, fold ? "Unfold the sub-graph" : "Fold the sub-graph");
    const sign = shape("path", { class: "nbgraph-m-sign", d: fold ? "M-3.5,0h7M0,-3.5v7" : "M-3.5,0h7" });
    const disc = shape("circle", { class: "nbgraph-m-fold", r: 7 });
    const transform = `translate(${right - 4} ${y + node.below})`;
    handle("nbgraph-fold", { transform }, () => this.say("fold", node), title, disc, sign);
  }

  say(kind, node, more = {}) {
    this.model.send({ kind, node: node.path, ...more });
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
    this.follow();
    return told.length > 6 ? [...told.slice(0, 5), `${told.length - 5} more`] : told;
  }

  clear() {
    for (const node of this.nodes.values()) this.showNode(node, NONE);
    for (const index of this.edges.keys()) this.showEdge(index, null);
  }

  showNode(node, state) {
    const [, lineBefore, stopBefore] = node.state ?? [];
    const [mark, line, stop] = (node.state = state);
    const { word, badge } = this.model.get("marks")[mark];
    const others = [...node.group.classList].filter((name) => !name.startsWith("nbgraph-is-"));
    node.group.setAttribute("class", [...others, `nbgraph-is-${mark}`].join(" "));
    if (!node.name) return;
    if (!node.row) node.name.setAttribute("dy", line ? 0 : 7); // in the middle, while it is alone
    if (line !== lineBefore) this.fitLine(node); // what stays the same is not laid out again
    if (node.row) node.badge.setAttribute("class", `nbgraph-mark ${mark}`);
    else node.badge.replaceChildren(...figure(badge));
    if (stop !== stopBefore) this.showStop(node, stop);
    const fold = { true: "sub-graph, folded", false: "sub-graph" }[this.model.get("folds")[node.path]];
    const pause = stop === "differs" ? stop : stop && `breakpoint ${stop}`;
    const parts = [node.name.textContent, word, line, pause, fold];
    node.group.setAttribute("aria-label", parts.filter(Boolean).join(", "));
  }

  showStop(node, stop) {
    if (node.row) node.stop.textContent = stop && (stop === "differs" ? "≠ differs" : `● ${stop}`);
    else node.stop.replaceChildren(...this.dots(node, stop));
  }

  // A font may be wider than the one that was laid out: a name is drawn together, and of a line as
  // many parts are shown as there is room for. Only what looks long is measured.
  fitName({ name, room }) {
    if (name.textContent.length * 6 > room - 14 && name.getComputedTextLength() > room - 14) squeeze(name, room - 14);
  }

  fitLine({ sub, room, state }) {
    let line = state[1];
    sub.textContent = line;
    sub.removeAttribute("textLength");
    while (room && line.length * 5 > room && sub.getComputedTextLength() > room) {
      const end = Math.max(line.lastIndexOf(" · "), line.lastIndexOf(", "));
      if (end < 1) return squeeze(sub, room);
      sub.textContent = line = line.slice(0, end);
    }
  }

  dots(node, stop) {
    if (stop === "differs") return [shape("g", { transform: "translate(-9 3)" }, ...figure(this.model.get("unlike")))];
    const places = { before: [0], after: [node.below], "before and after": [0, node.below] }[stop] ?? [];
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
    this.say("select", node);
  }

  hold(node) {
    this.focused?.group.setAttribute("tabindex", "-1");
    this.focused = node;
    node.group.setAttribute("tabindex", "0");
  }

  focus(node) {
    this.hold(node);
    node.group.focus();
    this.reveal(node);
  }

  // -- search

  find(text) {
    this.query = text;
    const wanted = text.trim().toLowerCase();
    this.canvas.classList.toggle("nbgraph-searching", wanted !== "");
    this.found = [...this.nodes.values()].filter((node) => node.name && wanted && named(node).includes(wanted));
    for (const node of this.nodes.values()) node.group.classList.toggle("nbgraph-found", this.found.includes(node));
    if (this.found.length) this.reveal(this.found[0]);
    return wanted ? this.found.length : null;
  }

  // Go to the next node that was found.
  next() {
    const at = this.found.indexOf(this.focused);
    if (this.found.length) this.focus(this.found[(at + 1) % this.found.length]);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.focused) return;
    const acts = {
      Enter: () => this.select(this.focused),
      " ": () => this.select(this.focused),
      b: () => this.say("breakpoint", this.focused, { side: event.shiftKey ? "after" : "before" }),
      f: () => this.say("fold", this.focused),
      "+": () => this.zoom(0.8),
      "=": () => this.zoom(0.8),
      "-": () => this.zoom(1.25),
      "−": () => this.zoom(1.25),
      0: () => this.all(),
      "/": () => this.search(),
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
    const { clientWidth: wide } = this.canvas;
    if (wide > 0) this.fitTexts();
    if (!this.svg || this.touched) return;
    const [, , w, h] = this.whole;
    const narrow = (outermost(this.canvas) ?? this.canvas).clientWidth < NARROW;
    const crowded = Math.min(wide / w, HIGHEST / h) < SMALLEST || (narrow && h > LOW);
    this.windowed = wide > 0 && crowded;
    this.canvas.classList.toggle("nbgraph-windowed", this.windowed);
    this.room = [wide, this.canvas.clientHeight];
    this.look(this.windowed ? this.around(...this.room) : this.whole);
  }

  // Keep the window on the active node: once a frame, and without a question to the page about
  // sizes, which would have it lay out everything for each status that comes.
  follow() {
    this.following ??= requestAnimationFrame(() => {
      this.following = null;
      if (this.svg && !this.touched && this.windowed) this.look(this.around(...this.room));
    });
  }

  fitTexts() {
    if (!this.unfitted) return;
    this.unfitted = false;
    for (const node of this.nodes.values()) {
      if (!node.room) continue;
      this.fitName(node);
      this.fitLine(node);
    }
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
    const centre = active ? this.centre(active) : [x + w / 2, y];
    const clamp = (at, size, start, room) =>
      room < size ? start + (room - size) / 2 : Math.min(Math.max(at - size / 2, start), start + room - size);
    return [clamp(centre[0], width, x, w), clamp(centre[1], height, y, h), width, height];
  }

  // Move the window so that a node stands in it.
  reveal(node) {
    if (node.row) return node.group.scrollIntoView({ block: "nearest" });
    const [x, y, w, h] = this.box;
    const at = this.centre(node);
    const isIn = at[0] > x + 30 && at[0] < x + w - 30 && at[1] > y + 24 && at[1] < y + h - 24;
    if (isIn) return;
    this.touched = true;
    this.look([at[0] - w / 2, at[1] - h / 2, w, h]);
  }

  centre(node) {
    return [node.x + Number(this.origin[1]), node.y + Number(this.origin[2])];
  }

  look(box) {
    this.box = box;
    const shown = box.map((number) => number.toFixed(2)).join(" ");
    if (this.svg.getAttribute("viewBox") !== shown) this.svg.setAttribute("viewBox", shown);
  }

  // Keep the point at these shares of the width and height where it is.
  zoom(factor, across = 0.5, down = 0.5) {
    if (!this.svg) return;
    const [x, y, w, h] = this.box;
    const wide = Math.min(Math.max(w * factor, 60), 20 * this.whole[2]);
    const high = (h * wide) / w;
    this.touched = true;
    this.look([x + (w - wide) * across, y + (h - high) * down, wide, high]);
  }

  wheel(event) {
    if (!event.ctrlKey || !this.svg) return;
    event.preventDefault();
    const { left, top, width, height } = this.svg.getBoundingClientRect();
    this.zoom(event.deltaY > 0 ? 1.1 : 0.9, (event.clientX - left) / width, (event.clientY - top) / height);
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

function squeeze(text, room) {
  text.setAttribute("textLength", room);
  text.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

function figure(parts) {
  return parts.map(([tag, attributes]) => shape(tag, attributes));
}

function placed(group) {
  return group.getAttribute("transform").match(/[-\d.]+/g).map(Number);
}

function named(node) {
  return `${node.name.textContent} ${node.path}`.toLowerCase();
}
