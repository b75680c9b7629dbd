// The lines of a log: Python says what is added, and all of it when a page comes. After greet.js.

function line([when, node, text, kind]) {
  const row = document.createElement("div");
  row.className = `nbgraph-log-row ${kind}`;
  for (const part of [when, node, text]) {
    const cell = document.createElement("span");
    cell.textContent = part;
    row.append(cell);
  }
  return row;
}

function initialize({ model }) {
  const keep = ({ whole, lines }) => {
    const all = whole ? lines : [...model.get("lines"), ...lines];
    model.set("lines", all.slice(-model.get("limit")));
  };
  model.on("msg:custom", keep);
  const stop = greet(model);
  return () => {
    stop();
    model.off("msg:custom", keep);
  };
}

function render({ model, el }) {
  el.classList.add("nbgraph-log");
  el.setAttribute("role", "log");
  el.setAttribute("aria-label", "Log");
  el.tabIndex = 0;
  const add = ({ whole, lines }) => {
    const atEnd = el.scrollHeight - el.scrollTop - el.clientHeight < 24;
    const rows = lines.map(line);
    if (whole) el.replaceChildren(...rows);
    else el.append(...rows);
    while (el.childElementCount > model.get("limit")) el.firstElementChild.remove();
    if (atEnd || whole) requestAnimationFrame(() => (el.scrollTop = el.scrollHeight));
  };
  add({ whole: true, lines: model.get("lines") });
  model.on("msg:custom", add);
  return () => model.off("msg:custom", add);
}

export default { initialize, render };
