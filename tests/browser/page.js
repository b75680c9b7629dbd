// Runs in every page of the harness before JupyterLab starts: one place that knows its front-end API.
window.harness = {
  unfinished: new Set(), // of the notebook that is shown

  panel() {
    return window.jupyterapp?.shell?.currentWidget ?? null;
  },

  session() {
    return this.panel()?.sessionContext ?? null;
  },

  kernel() {
    return this.session()?.session?.kernel ?? null;
  },

  cells() {
    return this.panel()?.content?.widgets ?? [];
  },

  ready() {
    const answers = ["idle", "busy"].includes(this.kernel()?.status) && this.session().isReady;
    return answers && this.panel().context.isReady && this.cells().length > 0 && this.unveiled();
  },

  // Show another notebook in this tab; what the one before left on the page goes with it.
  async show(path) {
    const before = this.panel();
    this.unfinished = new Set();
    await window.jupyterapp.commands.execute("docmanager:open", { path });
    before.dispose();
  },

  unveiled() {
    return document.getElementById("jupyterlab-splash") === null;
  },

  shows(theme) {
    const light = document.body.dataset.jpThemeLight === "true";
    return light === (theme === "light") && this.unveiled();
  },

  idle() {
    const running = this.cells().some((cell) => cell.model.executionState === "running");
    return this.unfinished.size === 0 && !running && this.kernel()?.status === "idle";
  },

  start(command, args) {
    const { unfinished } = this;
    const running = window.jupyterapp.commands
      .execute(command, args)
      .catch((error) => console.error("harness:", command, error))
      .finally(() => unfinished.delete(running));
    unfinished.add(running);
  },

  runCell(index) {
    this.panel().content.activeCellIndex = index;
    this.start("notebook:run-cell", {});
  },

  outputs(index) {
    return this.cells()[index]?.model.outputs?.toJSON() ?? [];
  },

  outputText(index) {
    const joined = (text) => (Array.isArray(text) ? text.join("") : text);
    const textOf = (output) => {
      if (output.text !== undefined) return joined(output.text);
      if (output.ename !== undefined) return `${output.ename}: ${output.evalue}`;
      return joined(output.data["text/plain"] ?? "");
    };
    return this.outputs(index).map(textOf).join("\n");
  },

  async execute(kernel, code, milliseconds) {
    const answer = { text: "", error: null };
    const request = { code, store_history: false, stop_on_error: false };
    const future = kernel.requestExecute(request);
    future.onIOPub = (message) => {
      const { content, header } = message;
      if (header.msg_type === "stream") answer.text += content.text;
      if (header.msg_type === "error") answer.error = `${content.ename}: ${content.evalue}`;
    };
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no reply within ${milliseconds} ms`)), milliseconds);
    });
    await Promise.race([future.done, late]).finally(() => clearTimeout(timer));
    return answer;
  },

  async besideMainShell(code, milliseconds) {
    const reply = await this.kernel().requestCreateSubshell({}, true).done;
    const clone = this.kernel().clone({ handleComms: false });
    clone.subshellId = reply.content.subshell_id;
    try {
      return await this.execute(clone, code, milliseconds);
    } finally {
      this.kernel().requestDeleteSubshell({ subshell_id: clone.subshellId }, true);
      clone.dispose();
    }
  },
};
