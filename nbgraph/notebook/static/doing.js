// The cards of what runs: Python says what stands in them, and all of it when a page comes. After
// greet.js.

function part(tag, className, ...children) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}

function initialize({ model }) {
  const keep = ({ kind, order, changed, more }) => {
    if (kind !== "cards") return;
    const known = new Map(model.get("cards").map((card) => [card[0], card]));
    for (const card of changed) known.set(card[0], card);
    model.set("cards", order.map((task) => known.get(task)).filter(Boolean));
    model.set("more", more);
  };
  model.on("msg:custom", keep);
  const stop = greet(model);
  return () => {
    stop();
    model.off("msg:custom", keep);
  };
}

function card(task) {
  const note = part("span", "nbgraph-2nd");
  const done = part("div", "nbgraph-share");
  const bar = part("div", "nbgraph-progress", done);
  const text = part("div", "nbgraph-text nbgraph-tokens");
  const name = part("span", "nbgraph-strong", task);
  const head = part("div", "nbgraph-head", part("i", "nbgraph-mark running"), name, note);
  bar.setAttribute("role", "progressbar");
  bar.setAttribute("aria-label", task);
  const el = part("div", "nbgraph-activity", head, bar, text);
  const show = ([, said, share, written]) => {
    const percent = Math.round(100 * (share ?? 0));
    note.textContent = said;
    bar.hidden = share === null;
    done.style.width = `${percent}%`;
    bar.setAttribute("aria-valuenow", percent);
    const atEnd = text.scrollHeight - text.scrollTop - text.clientHeight < 24;
    text.hidden = !written;
    text.textContent = written;
    if (atEnd) text.scrollTop = text.scrollHeight;
  };
  return { el, show };
}

function render({ model, el }) {
  el.classList.add("nbgraph-activities");
  const cards = new Map();
  const rest = part("div", "nbgraph-2nd");
  const show = ({ kind, order, changed, more }) => {
    if (kind !== "cards") return;
    for (const row of changed) {
      if (!cards.has(row[0])) cards.set(row[0], card(row[0]));
      cards.get(row[0]).show(row);
    }
    for (const task of [...cards.keys()]) if (!order.includes(task)) cards.delete(task);
    const wanted = order.map((task) => cards.get(task)?.el).filter(Boolean);
    rest.textContent = more ? `and ${more} more` : "";
    const all = more ? [...wanted, rest] : wanted;
    if (all.length !== el.children.length || all.some((each, at) => el.children[at] !== each)) el.replaceChildren(...all);
  };
  const all = model.get("cards");
  show({ kind: "cards", order: all.map((each) => each[0]), changed: all, more: model.get("more") });
  model.on("msg:custom", show);
  return () => model.off("msg:custom", show);
}

export default { initialize, render };
