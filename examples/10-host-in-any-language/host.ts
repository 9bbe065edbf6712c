// A host in TypeScript: starts the engine, registers a callback, fires events. Node's own modules only.
// Its types stand in comments, so that node runs it as it is: node host.ts
const { spawn } = require("node:child_process");
const { createInterface } = require("node:readline");
const { resolve } = require("node:path");

/** @typedef {(event: Record<string, any>) => object | null | Promise<object | null>} Handler */
/** @typedef {{ decision: "allow" | "deny" | "ask" | null, by: string | null, reason: string | null }} Outcome */

class Crosier {
  server = spawn("crosier", ["serve", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  last = 0;
  /** @type {Map<number, { done: (result: any) => void, failed: (error: Error) => void }>} */
  waiting = new Map();
  /** @type {Map<string, Handler>} */
  handlers = new Map();

  /** @param {string} config */
  async start(config) {
    createInterface({ input: this.server.stdout }).on("line", (/** @type {string} */ line) => this.read(JSON.parse(line)));
    await this.request("hello", { protocols: [1], client: { name: "host.ts" }, config: [config], cwd: process.cwd() });
    return this;
  }

  /** @param {object} message */
  send(message) {
    this.server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  /** @param {string} method @param {object} params @returns {Promise<any>} */
  request(method, params) {
    const id = ++this.last;
    this.send({ id, method, params });
    return new Promise((done, failed) => this.waiting.set(id, { done, failed }));
  }

  /** @param {any} message */
  async read(message) {
    if (message.method === "hook.call") {
      const { hook, event } = message.params;
      try {
        this.send({ id: message.id, result: (await this.handlers.get(hook)?.(event)) ?? null });
      } catch (error) { // a failure of the hook, which its `on_error` decides about
        this.send({ id: message.id, error: { code: 1, message: String(error) } });
      }
    } else if (this.waiting.has(message.id)) {
      const { done, failed } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      // No outcome is no permission: whoever asked must not go on.
      message.error ? failed(new Error(message.error.message)) : done(message.result);
    }
  }

  /** @param {string} name @param {string} event @param {Handler} handler @param {object} [settings] */
  register(name, event, handler, settings) {
    this.handlers.set(name, handler);
    return this.request("hook.register", { name, event, ...settings });
  }

  /** @param {string} event @param {object} input @returns {Promise<Outcome>} */
  async fire(event, input) {
    return (await this.request("fire", { event, input })).outcome;
  }
}

(async () => {
  const crosier = await new Crosier().start(resolve("hooks.yaml"));
  const noSecrets = (/** @type {any} */ event) =>
    event.tool_input.file_path?.includes(".env") ? { decision: "deny", reason: "secrets stay where they are" } : null;
  await crosier.register("no-secrets", "PreToolUse", noSecrets, { matcher: "Read", on_error: "abort" });
  for (const [tool_name, tool_input] of [["Read", { file_path: ".env" }], ["Bash", { command: "git push --force" }]]) {
    const outcome = await crosier.fire("PreToolUse", { tool_name, tool_input });
    console.log(tool_name, ...Object.values(tool_input), "->", outcome.decision ?? "go on", outcome.by ?? "");
  }
  await crosier.request("shutdown", {});
})();
