// Draws where a graph stands. It decides nothing: Python says what to show.
//
// One module serves two widgets: a drawing (its model has `svg`) and the keys of a form that
// stands alone. Python puts greet.js, keys.js, focus.js and graph.js in front of this file; what it hears on a
// page, it hears on the outermost `.nbgraph`, once.

// -- the model: a status that is kept current

function initialize({ model }) {
  let timer;
  let asked = 0;
  // A server drops messages that come in a burst, a drawing too: then it is asked for.
  const lacks = (drawn) => {
    if (model.get("svg").length !== drawn && asked++ < 3) model.send({ kind: "hello", lacks: true });
  };
  const keep = (message) => {
    if (message.kind !== "status" || model.get("svg") === undefined) return;
    model.set("status", merged(model.get("status"), message));
    if (message.full) clearTimeout(timer);
    if (message.full) timer = setTimeout(lacks, 1_000, message.drawn); // it may be on its way
  };
  model.on("msg:custom", keep);
  const stop = greet(model);
  return () => {
    stop();
    clearTimeout(timer);
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
  let leave = () => {};
  const forget = whenAttached(el, () => {
    if (drawing && !outermost(el)) el.classList.add("nbgraph");
    const root = outermost(el);
    if (root) listen(root);
    if (root) leave = attend(root, model);
    drawing?.fit();
  });
  return () => {
    forget();
    leave();
    drawing?.close();
    model.off("msg:custom", hear);
  };
}

// Tell whether the focus is in the box, for nothing is taken from under a person who works there.
function attend(root, model) {
  const view = `${Date.now()}-${++views}`;
  let told = false;
  const holds = () => {
    const { activeElement: active } = document;
    return root.contains(active) && !active.matches(".nbgraph-main, .nbgraph");
  };
  const tell = (within) => {
    if (within === told) return;
    told = within;
    try {
      model.send({ kind: "focus", within, view });
    } catch {
      // the kernel is gone, or the notebook is being closed: nobody asks any more
    }
  };
  let last = null; // what has the focus, or had it when it went away
  const enter = ({ target }) => {
    last = target;
    tell(holds());
  };
  const look = () => {
    if (last.isConnected && last.offsetParent && !last.matches(":disabled")) last = root.contains(document.activeElement) ? last : null;
    else keepFocus(root);
    tell(holds());
  };
  const leave = () => last && setTimeout(() => last && look());
  const gone = () => tell(false);
  root.addEventListener("focusin", enter);
  root.addEventListener("focusout", leave);
  window.addEventListener("pagehide", gone);
  const removed = new MutationObserver(leave); // what has the focus may go, and nothing tells
  removed.observe(root, { childList: true, subtree: true });
  tell(holds());
  return () => {
    root.removeEventListener("focusin", enter);
    root.removeEventListener("focusout", leave);
    window.removeEventListener("pagehide", gone);
    removed.disconnect();
    if (last) requestAnimationFrame(() => keepFocus(root)); // another drawing stands there then
    gone();
  };
}
let views = 0;

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
  const graph = new Graph(model, canvas);
  const search = searchBox(graph);
  const tools = [
    ["Search", "M7 3a4 4 0 1 0 0 8a4 4 0 0 0 0-8M10 10l3.4 3.4", () => search.toggle()],
    ["Zoom out", "M3 8h10", () => graph.zoom(1.25)],
    ["Zoom in", "M3 8h10M8 3v10", () => graph.zoom(0.8)],
    ["Fit", "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3", () => graph.all()],
  ].map((tool) => iconButton(...tool));
  const buttons = make("span", { class: "nbgraph-tools" }, ...tools);
  graph.search = () => search.toggle();
  ["/", "-", "+", "0"].forEach((key, at) => filled(tools[at], { tabindex: "-1", "aria-keyshortcuts": key }, []));
  const head = make("div", { class: "nbgraph-row nbgraph-graph-head" }, heading, note, push, buttons);
  el.append(head, search.row, canvas, legend(model.get("marks")));
  const title = (status) => {
    if (status.heading !== undefined) heading.textContent = status.heading;
    if (status.note !== undefined) note.textContent = status.note;
  };
  const mount = () => {
    graph.mount();
    el.classList.toggle("nbgraph-undrawn", !model.get("svg"));
    graph.show(model.get("status"));
    title(model.get("status"));
  };
  mount();
  let due = false; // one update can change several of these
  const again = () => {
    if (due) return;
    due = true;
    queueMicrotask(() => {
      due = false;
      mount();
    });
  };
  for (const trait of ["svg", "label", "listed", "folds"]) model.on(`change:${trait}`, again);
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
      for (const trait of ["svg", "label", "listed", "folds"]) model.off(`change:${trait}`, again);
    },
  };
}

function searchBox(graph) {
  const input = make("input", { type: "search", placeholder: "Search nodes", "aria-label": "Search nodes" });
  const count = make("span", { class: "nbgraph-2nd nbgraph-small", role: "status" });
  const row = make("div", { class: "nbgraph-row nbgraph-search", hidden: "" }, input, count);
  const look = () => {
    const found = graph.find(input.value);
    count.textContent = found === null ? "" : found ? `${found} found, Enter goes there` : "none found";
  };
  const toggle = () => {
    row.hidden = !row.hidden;
    if (row.hidden) input.value = "";
    else input.focus();
    look();
  };
  input.addEventListener("input", look);
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") graph.next();
    if (event.key !== "Escape") return;
    toggle();
    if (graph.focused) graph.focus(graph.focused);
  });
  return { row, toggle };
}

function iconButton(label, path, act) {
  const icon = shape("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, shape("path", { d: path }));
  const button = make("button", { class: "only quiet", type: "button", title: label, "aria-label": label }, icon);
  button.addEventListener("click", act);
  return button;
}

function legend(marks) {
  const box = make("div", { class: "nbgraph-legend" });
  const words = Object.entries(marks).map(([mark, { word }]) => [mark, word]);
  for (const [mark, word] of [...words, ["break", "breakpoint"]])
    box.append(make("span", {}, make("i", { class: `nbgraph-mark ${mark}` }), word));
  return box;
}

export default { initialize, render };
