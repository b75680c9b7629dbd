// The rows of an inbox: Python says what stands there, clicks and keys go back. After greet.js.

const HEADS = { pick: "", who: "thread, node", asks: "asks", why: "why", age: "age", act: "" };
const FIELDS = "input:not([type=checkbox]):not([type=radio]), textarea, select";
const ROW = "tr.nbgraph-inbox-row";

function part(tag, name = "", ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

function said(element, text) {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}

// A row keeps its elements, and so the focus, whatever is told of it later.
function newRow(id, tell) {
  const tr = part("tr", "nbgraph-inbox-row");
  const box = part("input");
  box.type = "checkbox";
  const [who, where, asks, detail, problem] = [part("code"), part("small"), part("span"), part("small"), part("small", "nbgraph-inbox-problem")];
  const [mark, why, chip] = [part("i"), part("span"), part("span", "nbgraph-chip")];
  const [age, since, button] = [part("span"), part("small"), part("button")];
  chip.append(mark, why);
  button.type = "button";
  tr.append(
    part("td", "pick", box),
    part("td", "who", who, where),
    part("td", "asks", asks, detail, problem),
    part("td", "why", chip),
    part("td", "age", age, since),
    part("td", "act", button),
  );
  box.addEventListener("click", (event) => {
    if (box.getAttribute("aria-disabled") === "true") event.preventDefault();
    else tell("pick", id);
  });
  button.addEventListener("click", () => tell("open", id));
  const show = (row) => {
    tr.className = ["nbgraph-inbox-row", row.is_picked && "on", row.is_open && "open", row.is_group && "group"].filter(Boolean).join(" ");
    tr.dataset.row = id;
    box.checked = row.is_picked;
    box.setAttribute("aria-disabled", Boolean(row.held));
    box.setAttribute("aria-label", `Pick ${row.who || row.asks}${row.held ? `: ${row.held}` : ""}`);
    box.title = row.held;
    said(who, row.who);
    said(where, row.where);
    asks.className = row.is_code ? "nbgraph-inbox-code" : "";
    said(asks, row.asks);
    said(detail, row.detail);
    said(problem, row.problem);
    mark.className = row.mark ? `nbgraph-mark ${row.mark}` : "";
    mark.hidden = !row.mark;
    said(why, row.why);
    chip.hidden = !row.why;
    said(age, row.age);
    said(since, row.since);
    said(button, row.act);
    button.setAttribute("aria-label", `${row.act} ${row.who}`);
    button.setAttribute("aria-expanded", row.is_open);
  };
  return { tr, show };
}

function rowsOf(root) {
  return [...root.querySelectorAll(ROW)];
}

function goTo(tr) {
  if (!tr) return;
  for (const other of tr.parentElement.children) other.tabIndex = -1;
  tr.tabIndex = 0;
  tr.focus();
  tr.scrollIntoView({ block: "nearest" });
}

function onKey(event, root, tell) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches(FIELDS)) return;
  const at = event.target.closest(ROW);
  const inside = event.target.closest(".nbgraph-card, .nbgraph-form, .nbgraph-calls");
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "Escape") return tell("close", "");
  if (inside) return;
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[key];
  if (step) {
    const all = rowsOf(root);
    goTo(at ? all[all.indexOf(at) + step] : all[0]);
  } else if (at && key === "x") at.querySelector("input").click();
  else if (at && key === "Enter" && event.target === at) tell("open", at.dataset.row);
  else return;
  event.preventDefault();
}

// The root is there when the page has put the inbox together, which is a little later.
function withRoot(el, use, tries = 240) {
  const root = el.closest(".nbgraph-inbox");
  if (root) use(root);
  else if (tries) requestAnimationFrame(() => withRoot(el, use, tries - 1));
}

function initialize({ model }) {
  return greet(model);
}

function render({ model, el }) {
  const known = new Map();
  const tell = (kind, row) => model.send({ kind, row });
  const table = part("table", "mathjax_ignore");
  const body = part("tbody");
  const all = part("input");
  all.type = "checkbox";
  all.addEventListener("click", () => tell("all", ""));
  const heads = Object.entries(HEADS).map(([name, text]) => part("th", name, name === "pick" ? all : text));
  for (const head of heads) head.scope = "col";
  const top = part("thead", "", part("tr", "", ...heads));
  table.append(top, body);
  el.append(table);

  const draw = () => {
    const rows = model.get("rows");
    const label = model.get("label");
    top.classList.toggle("nbgraph-unseen", !label);
    table.setAttribute("aria-label", label || "More waiting questions");
    all.setAttribute("aria-label", "Pick all that are alike");
    all.checked = model.get("picks") === "all";
    all.indeterminate = model.get("picks") === "some";
    table.hidden = !rows.length;
    const had = [...body.children].findIndex((tr) => tr.contains(document.activeElement));
    const kept = new Set(rows.map((row) => row.id));
    for (const [id, { tr }] of known) {
      if (kept.has(id)) continue;
      tr.remove();
      known.delete(id);
    }
    rows.forEach((row, index) => {
      if (!known.has(row.id)) known.set(row.id, newRow(row.id, tell));
      const { tr, show } = known.get(row.id);
      show(row);
      if (body.children[index] !== tr) body.insertBefore(tr, body.children[index] ?? null);
    });
    const stop = [...body.children].find((tr) => tr.tabIndex === 0) ?? body.firstElementChild;
    for (const tr of body.children) tr.tabIndex = tr === stop ? 0 : -1;
    if (had >= 0 && !body.contains(document.activeElement)) goTo(body.children[Math.min(had, rows.length - 1)]);
  };
  const hear = ({ kind, row }) => {
    if (kind === "focus") goTo(known.get(row)?.tr);
  };
  draw();
  for (const name of ["rows", "picks", "label"]) model.on(`change:${name}`, draw);
  model.on("msg:custom", hear);
  let forget = () => {};
  withRoot(el, (root) => {
    if (!model.get("label")) return; // one of the tables hears for both
    const key = (event) => onKey(event, root, tell);
    root.addEventListener("keydown", key);
    forget = () => root.removeEventListener("keydown", key);
  });
  return () => {
    forget();
    for (const name of ["rows", "picks", "label"]) model.off(`change:${name}`, draw);
    model.off("msg:custom", hear);
  };
}

export default { initialize, render };
