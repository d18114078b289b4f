// Starts a separate demo school with its own data directory and port. It can be killed and restarted in place.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const BINARY = process.env.GROUPWORK_BINARY ?? fileURLToPath(new URL("../../target/demo/groupwork", import.meta.url));
const TIMEOUT_MS = 60_000;
const FIRST_PORT = 20_000;
const PORTS = 10_000;
const PORTS_PER_PROCESS = 20;

export class Demo {
  #child;
  #folder = mkdtempSync(join(tmpdir(), "groupwork-e2e-"));
  #port;
  #editor;
  #env;
  /** Origins of the simulated document servers; each start has its own. */
  documentServers = new Set();

  /** Text documents open in the editor of the simulator, or with `editor: "builtin"` in the built-in editor. */
  static async start({ editor = "simulator", host = "127.0.0.1", env = {} } = {}) {
    const demo = new Demo();
    demo.#editor = editor;
    demo.#env = env;
    demo.#port = await freePort();
    demo.base = `http://${host}:${demo.#port}`;
    process.on("exit", () => demo.#child?.kill("SIGKILL"));
    try {
      await demo.start();
    } catch (error) {
      await demo.close();
      throw error;
    }
    return demo;
  }

  /** Starts the server. After `kill` or `stop`, restarts it with the same data and address. */
  async start() {
    const args = ["demo", "--listen", `127.0.0.1:${this.#port}`, "--data-dir", this.#folder];
    args.push("--document-server", this.#editor);
    if (!this.base.includes("127.0.0.1")) args.push("--page", this.base);
    // Only the users of the test act in this school; simulated students are off.
    const env = { ...process.env, GROUPWORK_DEMO_STILL: "true", ...this.#env };
    this.#child = spawn(BINARY, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: this.#child.stdout });
    await new Promise((resolve, reject) => {
      const timeout = setTimeout(() => reject(new Error(`${BINARY} did not start in time`)), TIMEOUT_MS);
      const settled = (settle) => (value) => {
        clearTimeout(timeout);
        settle(value);
      };
      this.#child.once("error", settled(reject));
      this.#child.once(
        "exit",
        settled((code) => reject(new Error(`${BINARY} exited with ${code}`))),
      );
      lines.on("line", (line) => {
        const server = /document server is a simulator.*(http:\/\/\S+)/.exec(line);
        if (server) this.documentServers.add(new URL(server[1]).origin);
        if (line.startsWith("Ctrl-C")) settled(resolve)();
      });
    });
  }

  /** Returns the link in the newest email to an address. Without an SMTP server, emails are written to files. */
  async link(email) {
    const outbox = join(this.#folder, "outbox");
    for (const end = Date.now() + TIMEOUT_MS; Date.now() < end;) {
      const names = existsSync(outbox)
        ? readdirSync(outbox)
            .filter((name) => name.endsWith(".eml"))
            .toSorted()
            .toReversed()
        : [];
      for (const name of names) {
        const text = readFileSync(join(outbox, name), "utf8")
          .replace(/=\r?\n/g, "")
          .replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
        const found = /^http\S+$/m.exec(text.replaceAll("\r", ""));
        if (/^To:.*$/m.exec(text)?.[0].includes(email) && found) return new URL(found[0]);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`there is no email to ${email}`);
  }

  /** Runs a command of the binary on the data of this school, like its operator. */
  async command(...args) {
    await promisify(execFile)(BINARY, [...args, "--data-dir", this.#folder]);
  }

  /** The server process, for measurements. */
  get pid() {
    return this.#child.pid;
  }

  /** Kills the process, like a power failure. */
  kill() {
    return this.#end("SIGKILL");
  }

  /** Stops the process gracefully, like an update. */
  stop() {
    return this.#end("SIGTERM");
  }

  async close() {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(signal) {
    const child = this.#child;
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
}

/**
 * Returns a free port below the range that the kernel uses for outgoing connections, so that no connection of another process
 * takes it while the server is stopped. Files that run at the same time begin at different ports.
 */
async function freePort() {
  for (let port = FIRST_PORT + ((process.pid * PORTS_PER_PROCESS) % PORTS); ; port += 1) {
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
