// Where the focus goes. After keys.js in the module.

// What shall have the focus may come to the page a little later than the word for it. On a card it is
// the button that is safe to press; keys reach the card from there.
function focusIn(root, name) {
  const mine = ++wishes;
  const [had, until] = [document.activeElement, performance.now() + 30_000];
  const look = () => {
    const { activeElement: has } = document;
    const elsewhere = has !== had && has?.matches(`${TEXT}, [contenteditable=true]`); // a person is
    if (mine !== wishes || elsewhere || focusNow(root, name) || performance.now() > until) return;
    requestAnimationFrame(look);
  };
  look();
}
let wishes = 0; // the newest counts

function focusNow(root, name) {
  const place = root?.querySelector(`.${CSS.escape(name)}`);
  const field = "input:not(:disabled), textarea:not(:disabled), select:not(:disabled), button";
  const wrong = place?.querySelector(`.nbgraph-has-error :is(${field})`);
  const isCard = place?.matches(".nbgraph-card");
  const safe = isCard ? place.querySelector("button.nbgraph-deny") : place?.querySelector(field);
  const target = wrong ?? (place?.matches(field) ? place : safe);
  target?.focus();
  return isCard ? document.activeElement === target : Boolean(target);
}
