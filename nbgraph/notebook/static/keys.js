// Keys, focus and names that stock widgets leave out, on the page. The first half of the module
// that graph_view.js ends.

const SVG = "http://www.w3.org/2000/svg";
const TEXT = "input:not([type=checkbox]):not([type=radio]), textarea, select";
const LINE = "input:not([type=checkbox]):not([type=radio]):not([type=range]):not([list])";
const CARD_KEYS = { a: "approve", e: "edit", d: "deny", r: "respond" };
const NAMES = [
  [".nbgraph-toolbar", { role: "toolbar", "aria-label": "Run" }],
  [".nbgraph-status", { role: "status" }],
  ["button.nbgraph-into", { "aria-label": "Step into" }],
  ["button.nbgraph-edit-state", { "aria-label": "Edit state" }],
  [".nbgraph-until > select", { "aria-label": "Run until" }],
  [".nbgraph-branch:not(.nbgraph-goto, .nbgraph-past *) > select", { "aria-label": "Branch" }],
  [".nbgraph-goto > select", { "aria-label": "Go on with" }],
  [".nbgraph-past .nbgraph-with:not(.nbgraph-goto) > select", { "aria-label": "Compared with" }],
  [".nbgraph-find > input", { "aria-label": "Search the waiting questions" }],
  [".nbgraph-by-graph > select", { "aria-label": "Graph" }],
  [".nbgraph-by-node > select", { "aria-label": "Node" }],
  [".nbgraph-by-tool > select", { "aria-label": "Tool" }],
  [".nbgraph-by-age > select", { "aria-label": "Age" }],
  [".nbgraph-by-order > select", { "aria-label": "Order" }],
  [".nbgraph-summary", { role: "alert", tabindex: "-1" }],
  [".nbgraph-card", { role: "group", "aria-label": "A tool call" }],
  [".nbgraph-segments", { role: "tablist", "aria-label": "Tool calls" }],
  [".nbgraph-failure", { role: "group", "aria-label": "A failure" }],
  [".nbgraph-record", { role: "group", "aria-label": "An answer" }],
  [".nbgraph-h3", { role: "heading", "aria-level": "3" }],
  [".nbgraph-inspector .widget-radio-box", { "aria-label": "What is shown of the node" }],
  [".widget-toggle-buttons.nbgraph-json", { "aria-label": "How to answer" }],
  [".nbgraph-chip .nbgraph-copy-text", { "aria-label": "Copy the thread's id" }],
];
const NAMED_BY = [
  [".nbgraph-panel", "region", ".nbgraph-chip .nbgraph-mono", "Thread "],
  [".nbgraph-zone", "group", ".nbgraph-h3", ""],
  [".nbgraph-form", "group", ":scope > .nbgraph-head .nbgraph-strong", ""],
];
let groups = 0;

// A call that comes up, or moves without a touch of its card, is not approved for half a second: a
// click or key that was meant for something else would hit it.
const ARM_MS = 500;
const SINCE_TOUCH_MS = 1000;
const ARMED = "button.nbgraph-approve, button.nbgraph-allow, .nbgraph-together button.nbgraph-approve-all";
const CARD = ".nbgraph-card, .nbgraph-together";
const TOO_EARLY = "That came up just before you pressed. Look at it, and press again.";
const cards = new WeakMap();

function arm(card) {
  const button = card.querySelector(ARMED);
  if (!button?.offsetParent) return cards.delete(card);
  const known = cards.get(card) ?? { touched: -SINCE_TOUCH_MS };
  const now = performance.now();
  const place = button.getBoundingClientRect().top + scrollOf(card);
  const jumped = Math.abs(place - known.place) > 8 && now - known.touched > SINCE_TOUCH_MS;
  known.place = place;
  cards.set(card, known);
  if (known.since !== undefined && !jumped) return;
  known.since = now;
  setTimeout(() => card.isConnected && nameParts(outermost(card)), ARM_MS + 10);
}

function scrollOf(element) {
  let sum = 0;
  for (let at = element.parentElement; at; at = at.parentElement) sum += at.scrollTop;
  return sum;
}

// A button that is held back approves nothing: it says why, at once.
function isArming(button) {
  const card = button?.matches(ARMED) && !button.matches(".nbgraph-held") && button.closest(CARD);
  const known = card && cards.get(card);
  return Boolean(card) && (!known || performance.now() - known.since < ARM_MS);
}

function touch(event) {
  const known = cards.get(event.target.closest?.(CARD));
  if (known) known.touched = performance.now();
}

function outermost(el) {
  let root = null;
  for (let at = el.closest(".nbgraph"); at; at = at.parentElement?.closest(".nbgraph")) root = at;
  return root;
}

function make(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function shape(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function listen(root) {
  if ("nbgraphHears" in root.dataset) return;
  root.dataset.nbgraphHears = "";
  root.addEventListener("keydown", onKeyFirst, true);
  root.addEventListener("keydown", (event) => onKeyLast(event, root));
  root.addEventListener("pointerdown", onPress, true);
  root.addEventListener("click", onRelease, true);
  root.addEventListener("click", onSubmit, true);
  root.addEventListener("click", onCopy);
  root.addEventListener("click", onDeny);
  root.addEventListener("input", () => (changed = true), true);
  for (const kind of ["input", "keydown", "pointerdown"]) root.addEventListener(kind, touch, true);
  let due = false;
  const later = (changes) => {
    if (due || changes.every(({ target }) => target instanceof SVGElement)) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      nameParts(root);
    });
  };
  const watch = { childList: true, subtree: true, attributes: true, attributeFilter: ["class", "title"] };
  new MutationObserver(later).observe(root, watch);
  nameParts(root);
}

// Text fields keep their keys to themselves, so these two are heard on the way down.
function onKeyFirst(event) {
  const form = event.target.closest(".nbgraph-form, .nbgraph-card, .nbgraph-calls");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const submit = submitOf(form, event.target);
    if (form) event.stopPropagation();
    if (!submit) return;
    event.preventDefault();
    event.target.dispatchEvent(new Event("change", { bubbles: true }));
    submit.click();
  } else if (event.key === "Enter" && form && goesOn(event)) {
    event.preventDefault();
    event.stopPropagation();
    event.target.dispatchEvent(new Event("change", { bubbles: true }));
    focusAfter(event.target, form);
  } else if (event.key === "Escape" && form && event.target.matches(TEXT)) {
    event.stopPropagation();
    form.setAttribute("tabindex", "-1");
    form.focus();
  }
}

// Enter leaves a field of one line; what writes more lines, adds tags or offers a list keeps it.
function goesOn(event) {
  const plain = !event.shiftKey && !event.altKey && !event.isComposing;
  return plain && event.target.matches(LINE) && !event.target.closest(".nbgraph-tags");
}

function focusAfter(field, form) {
  const stops = [...form.querySelectorAll("input, textarea, select, .nbgraph-submit")].filter(isStop);
  stops[stops.indexOf(field) + 1]?.focus();
}

function isStop(element) {
  const { type, checked } = element;
  if (element.disabled || element.offsetParent === null || element.closest(".nbgraph-pick, .nbgraph-null")) return false;
  if (type !== "radio") return true;
  const group = [...element.closest(".widget-radio-box").querySelectorAll("input")];
  return checked || (!group.some((radio) => radio.checked) && group[0] === element);
}

// Control+Enter on the reason denies; else it sends what is decided, or approves a single call.
function submitOf(form, element) {
  const card = element.closest(".nbgraph-card");
  if (card && element.closest(".nbgraph-answer")) return card.querySelector(".nbgraph-respond");
  const calls = element.closest(".nbgraph-calls");
  const send = calls?.querySelector(".nbgraph-foot .nbgraph-submit");
  const deny = card && element.closest(".nbgraph-reason") && card.querySelector(".nbgraph-deny");
  if (deny && !(send && deny.matches(".on"))) return deny;
  if (send) return send;
  if (card && !card.classList.contains("nbgraph-destructive")) return card.querySelector(".nbgraph-approve");
  for (let at = form; at; at = at.parentElement?.closest(".nbgraph-form, .nbgraph-card")) {
    const button = at.querySelector(".nbgraph-submit");
    if (button) return button;
  }
  return null;
}

// JupyterLab would take a plain key for its own: A and B insert cells, D D deletes one.
function onKeyLast(event, root) {
  if ((event.ctrlKey || event.metaKey || event.altKey) && event.key !== "Enter") return;
  event.stopPropagation();
  if (event.target.matches(TEXT) || event.repeat) return;
  const strip = event.target.closest(".nbgraph-strip");
  if (cardKey(event.key.toLowerCase(), event.target, root)) event.preventDefault(); // a key, and no text
  if (strip) stripKey(event, [...strip.querySelectorAll("button")].reverse());
  if (event.key === "Escape") event.target.closest(".nbgraph-timeline")?.querySelector(".nbgraph-to-now")?.click();
}

// With the focus on a segment, keys are for the card that is shown.
function cardOf(element) {
  const calls = element.closest(".nbgraph-calls");
  return element.closest(".nbgraph-card") ?? calls?.querySelector(".nbgraph-card");
}

function cardKey(key, element, root, tries = 240) {
  const card = cardOf(element);
  if (!card || !root.contains(card)) return;
  if (key === "j" || key === "k") return nextCall(card, key === "j" ? 1 : -1);
  const segment = element.closest(".nbgraph-segments button");
  if (segment && !isOf(segment, card)) {
    // Its card is still on the way. What decides nothing waits for it; a decision is for what is seen.
    const waits = tries && "er".includes(key) && document.activeElement === segment;
    if (waits) requestAnimationFrame(() => cardKey(key, element, root, tries - 1));
    return;
  }
  const destructive = card.classList.contains("nbgraph-destructive");
  if (!(key in CARD_KEYS) || (destructive && "ad".includes(key))) return;
  const button = card.querySelector(`button.nbgraph-${CARD_KEYS[key]}`);
  button?.focus();
  button?.click();
  return true;
}

function isOf(segment, card) {
  return [...segment.classList].some((name) => name.startsWith("of-") && card.classList.contains(name.slice(3)));
}

// A segment that has the focus is where a person is, although its card may not be there yet.
function nextCall(card, step) {
  const calls = [...(card.closest(".nbgraph-calls")?.querySelectorAll(".nbgraph-segments button") ?? [])];
  const focused = calls.indexOf(document.activeElement);
  const at = focused >= 0 ? focused : calls.findIndex((call) => call.classList.contains("here"));
  calls[at + step]?.focus();
  calls[at + step]?.click();
}

// The strip is one stop; its arrows look at the steps, and Escape at now.
function stripKey(event, steps) {
  const at = steps.indexOf(event.target);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: steps.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  if (!steps[to]) return;
  rove(steps, steps[to]);
  steps[to].focus();
  steps[to].click();
}

function rove(stops, here) {
  for (const stop of stops) stop.tabIndex = stop === here ? 0 : -1;
}

// What has the focus may go away, as a form does that was submitted: the place it was in has it then.
function keepFocus(root, tries = 60) {
  if (!root.isConnected || document.activeElement !== document.body) return;
  const places = [".nbgraph-main", ".nbgraph-opened .nbgraph-close", "tr.nbgraph-inbox-row[tabindex='0']"];
  const place = places.map((each) => root.querySelector(each)).find(Boolean);
  if (place?.matches(".nbgraph-main")) place.setAttribute("tabindex", "-1");
  if (place) place.focus({ preventScroll: true });
  else if (tries) requestAnimationFrame(() => keepFocus(root, tries - 1));
}

// Leaving a field can bring a line below it, which moves a button or a tick between press and
// release: what was pressed gets the click, if it is released where it was or is.
const PRESSED = "button, label, input[type=checkbox], input[type=radio]";
let pressed = null;

function onPress(event) {
  const button = event.target.closest(PRESSED);
  const early = isArming(button);
  if (!early) wishes += 1; // a person says where the focus goes, unless the press was for something else
  pressed = button && event.button === 0 ? { button, early, was: button.getBoundingClientRect() } : null;
  if (pressed) button.setPointerCapture(event.pointerId);
}

function onRelease(event) {
  if (!pressed || event.detail === 0 || event.target.closest(PRESSED) !== pressed.button) return;
  const places = [pressed.was, pressed.button.getBoundingClientRect()];
  const isIn = ({ left, right, top, bottom }) =>
    event.clientX >= left && event.clientX <= right && event.clientY >= top && event.clientY <= bottom;
  if (places.some(isIn)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

// The second click of a double click is swallowed; Python still judges the first. A click after
// something was typed is no second one, however quick.
let changed = true;

function onSubmit(event) {
  const button = event.target.closest(`.nbgraph-submit, ${ARMED}`);
  if (!button) return;
  const byPointer = event.detail > 0 && pressed?.button === button;
  if (byPointer ? pressed.early : isArming(button)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    tellOf(button, TOO_EARLY);
    return;
  }
  const isFirst = event.detail < 2 || changed;
  changed = false;
  if (isFirst) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

// A press that does nothing is not silent.
function tellOf(element, text) {
  const live = outermost(element)?.querySelector(".nbgraph-live");
  if (live) live.textContent = text;
}

// One of several calls is denied before all are sent, and what is typed next is why: were it taken
// for keys of the card, an "a" in it would approve.
function onDeny(event) {
  const button = event.target.closest("button.nbgraph-deny:not(.nbgraph-held)");
  if (!button?.closest(".nbgraph-calls")?.querySelector(".nbgraph-foot .nbgraph-submit")) return;
  button.closest(".nbgraph-card").querySelector(".nbgraph-reason input")?.focus();
}

function onCopy(event) {
  const button = event.target.closest(".nbgraph-copy-text");
  const place = button?.closest(".nbgraph-chip, .nbgraph-copied");
  const text = place?.querySelector(".nbgraph-mono")?.textContent;
  if (text) navigator.clipboard?.writeText(text.trim());
}

function nameParts(root) {
  for (const [part, attributes] of NAMES)
    for (const element of root.querySelectorAll(part)) filled(element, attributes, []);
  for (const tab of root.querySelectorAll(".nbgraph-segments button")) {
    const attributes = { role: "tab", "aria-selected": tab.classList.contains("here") };
    filled(tab, attributes, []);
  }
  for (const [part, role, name, before] of NAMED_BY)
    for (const element of root.querySelectorAll(part)) {
      const text = element.querySelector(name)?.textContent;
      if (text) filled(element, { role, "aria-label": before + text }, []);
    }
  for (const button of root.querySelectorAll("button.only[title]:not([aria-label])"))
    button.setAttribute("aria-label", button.title);
  for (const group of root.querySelectorAll(".nbgraph-group")) {
    const heading = group.querySelector(":scope > .nbgraph-row > .nbgraph-label")?.textContent;
    if (heading) filled(group, { role: "group", "aria-label": heading }, []);
  }
  for (const box of root.querySelectorAll(".widget-radio-box")) nameGroup(box, "radiogroup");
  for (const box of root.querySelectorAll(".widget-toggle-buttons")) nameGroup(box, "group");
  for (const button of root.querySelectorAll(".widget-toggle-button"))
    button.setAttribute("aria-pressed", button.classList.contains("mod-active"));
  for (const card of root.querySelectorAll(CARD)) arm(card);
  for (const button of root.querySelectorAll(`button.nbgraph-held, button[aria-disabled], ${ARMED}`))
    button.setAttribute("aria-disabled", isArming(button) || button.classList.contains("nbgraph-held"));
  for (const select of root.querySelectorAll(".nbgraph-until > select"))
    select.setAttribute("aria-disabled", select.parentElement.classList.contains("nbgraph-held"));
  for (const button of root.querySelectorAll("button.nbgraph-held, .nbgraph-held > select, [data-nbgraph-why]"))
    describe(button, root);
  for (const strip of root.querySelectorAll(".nbgraph-strip")) {
    const steps = [...strip.querySelectorAll("button")];
    const here = steps.find((step) => step === document.activeElement) ?? strip.querySelector(".sel") ?? steps[0];
    rove(steps, here);
  }
  for (const bar of root.querySelectorAll(".nbgraph-gantt button")) bar.tabIndex = -1;
  for (const field of root.querySelectorAll(".nbgraph-field"))
    for (const input of field.querySelectorAll("input, textarea, select"))
      input.setAttribute("aria-invalid", input.closest(".nbgraph-field").classList.contains("nbgraph-has-error"));
}

// Why a button cannot act stands in its title, which not everybody reads.
function describe(button, root) {
  const held = button.closest(".nbgraph-held");
  const place = root.querySelector(".nbgraph-live")?.parentElement;
  if (!place) return;
  let why = document.getElementById(button.dataset.nbgraphWhy);
  if (!why) {
    why = make("span", { hidden: "", id: `nbgraph-why-${Date.now()}-${++groups}` });
    button.dataset.nbgraphWhy = why.id;
    place.append(why);
  }
  const text = held ? held.title || button.title : "";
  if (why.textContent !== text) why.textContent = text;
  if (text) button.setAttribute("aria-describedby", why.id);
  else button.removeAttribute("aria-describedby");
}

function nameGroup(box, role) {
  const widget = box.closest(".jupyter-widgets");
  const label = widget?.querySelector(".widget-label")?.textContent;
  const field = box.closest(".nbgraph-field")?.querySelector(".nbgraph-label, .widget-label")?.textContent;
  box.setAttribute("role", role);
  if (label || field) box.setAttribute("aria-label", label || field);
  if (box.dataset.nbgraphGroup === undefined) box.dataset.nbgraphGroup = `nbgraph-${Date.now()}-${++groups}`;
  for (const radio of box.querySelectorAll("input[type=radio]")) radio.name = box.dataset.nbgraphGroup;
}
