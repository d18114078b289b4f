// Stops the service, the browser or the test for a random time, every few seconds, as a machine does that is busy with other
// work: `E2E_STALLS=1 npm run e2e`. A scenario that fails then, but not without, depends on the speed of the machine.
import { readdirSync, readFileSync } from "node:fs";

const SHORTEST_MS = 200;
const LONGEST_MS = Number(process.env.E2E_STALL_MS ?? 4_000);
const PAUSE_MS = 3_000;
const KINDS = ["service", "pages", "browser", "test"];

/** Starts the stalls of one demo school and one browser; returns the function that ends them. */
export function startStalls(demo) {
  const kinds = process.env.E2E_STALLS === "1" ? KINDS : process.env.E2E_STALLS.split(",");
  const stopped = new Set();
  let timer;
  const resume = () => {
    for (const pid of stopped) send(pid, "SIGCONT");
    stopped.clear();
  };
  const stall = () => {
    const kind = kinds[Math.floor(Math.random() * kinds.length)];
    const ms = SHORTEST_MS + Math.random() * (LONGEST_MS - SHORTEST_MS);
    if (process.env.E2E_STALL_LOG) console.log(`# stall: ${kind} ${ms.toFixed(0)} ms at ${new Date().toISOString()}`);
    if (kind === "test") {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      timer = setTimeout(stall, Math.random() * PAUSE_MS);
      return;
    }
    for (const pid of kind === "service" ? [demo.pid] : processes(kind)) if (send(pid, "SIGSTOP")) stopped.add(pid);
    timer = setTimeout(() => {
      resume();
      timer = setTimeout(stall, Math.random() * PAUSE_MS);
    }, ms);
  };
  timer = setTimeout(stall, Math.random() * PAUSE_MS);
  process.on("exit", resume);
  return () => {
    clearTimeout(timer);
    resume();
  };
}

function send(pid, signal) {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // It has ended.
  }
}

/** Process ids of the renderers of this test's browser, or of its main process. */
function processes(kind) {
  const parents = new Map();
  const commands = new Map();
  for (const pid of readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      parents.set(pid, Number(/^PPid:\s*(\d+)/m.exec(status)[1]));
      commands.set(pid, readFileSync(`/proc/${pid}/cmdline`, "utf8"));
    } catch {
      // It has ended.
    }
  }
  const isOurs = (pid) => {
    for (let at = pid; at > 1 && at !== undefined; at = parents.get(at)) if (at === process.pid) return true;
    return false;
  };
  const isWanted = (command) =>
    kind === "pages"
      ? command.includes("--type=renderer")
      : /^\S*chromium|^\S*chrome/.test(command) && !command.includes("--type=");
  return [...commands].filter(([pid, command]) => isWanted(command) && isOurs(pid)).map(([pid]) => pid);
}
