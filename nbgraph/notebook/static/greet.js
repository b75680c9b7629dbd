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

