// The boxes of a timeline's strip: Python says what stands in them, and all of it when a page comes.
// After greet.js. The newest stands first, in a row that runs backwards.

function part(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function initialize({ model }) {
  const keep = (message) => {
    if (message.kind !== "boxes") return;
    const { order, changed, selected } = message;
    const known = new Map(model.get("boxes").map((box) => [box[0], box]));
    for (const box of changed) known.set(box[0], box);
    model.set("boxes", order.map((number) => known.get(number)).filter(Boolean));
    model.set("selected", selected);
  };
  model.on("msg:custom", keep);
  const stop = greet(model);
  return () => {
    stop();
    model.off("msg:custom", keep);
  };
}

function fill(box, [, head, tasks, look]) {
  box.className = `step ${look}`;
  const lines = tasks.map(([mark, text]) => {
    const line = part("span", "nbgraph-task");
    line.append(part("i", `nbgraph-mark ${mark}`), text);
    return line;
  });
  box.replaceChildren(part("span", "nbgraph-step-head", head), ...lines);
}

function render({ model, el }) {
  el.classList.add("nbgraph-strip");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", "Supersteps, the newest first");
  const boxes = new Map();
  const made = (number, look) => {
    if (look.includes("ahead")) return part("div", "step");
    const box = part("button", "step");
    box.type = "button";
    box.title = "Look at this superstep";
    box.addEventListener("click", () => model.send({ kind: "choose", number }));
    return box;
  };
  const show = (message) => {
    if (message.kind !== "boxes") return;
    const { order, changed, selected } = message;
    for (const row of changed) {
      const [number, , , look] = row;
      const old = boxes.get(number);
      const isOther = old && (old.tagName === "DIV") !== look.includes("ahead");
      if (!old || isOther) {
        old?.remove();
        boxes.set(number, made(number, look));
      }
      fill(boxes.get(number), row);
    }
    for (const [number, box] of boxes) {
      if (!order.includes(number)) {
        box.remove();
        boxes.delete(number);
        continue;
      }
      box.classList.toggle("sel", number === selected);
      if (number === selected) box.setAttribute("aria-current", "step");
      else box.removeAttribute("aria-current");
    }
    order.forEach((number, at) => {
      const box = boxes.get(number);
      if (box && el.children[at] !== box) el.insertBefore(box, el.children[at] ?? null);
    });
  };
  const all = model.get("boxes");
  show({ kind: "boxes", order: all.map((box) => box[0]), changed: all, selected: model.get("selected") });
  model.on("msg:custom", show);
  return () => model.off("msg:custom", show);
}

export default { initialize, render };
