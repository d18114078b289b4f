// Starts a demo school and one Chromium, and opens pages as its users.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

import { Demo } from "./demo.mjs";
import { startStalls } from "./stall.mjs";

/** Timeout for any expected change, on a machine that is busy with other work. */
export const TIMEOUT_MS = 60_000;
const PASSWORD = "groupwork-demo";
/** Time after which a toast closes on a page of a test, instead of eight seconds. */
const TOAST_MS = 600_000;
/**
 * Path of the browser. By default Debian's headless shell: the same Chromium without the parts of a desktop browser. It opens
 * a page with a third of the CPU time of the desktop browser, which is used where the shell is not installed.
 */
export const CHROMIUM =
  process.env.CHROMIUM ??
  (existsSync("/usr/bin/chromium-headless-shell") ? "/usr/bin/chromium-headless-shell" : "/usr/bin/chromium");
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Console messages that every page may write: the client asks for its user before it knows whether it is signed in. */
const ALWAYS_ALLOWED = [/status of 401 .*\/api\/users\/me/];
/** A time zone in which it is about noon, so that no scenario passes midnight: pages show "today" in the zone of the browser. */
const NOON_ZONE = zoneAhead(12 - new Date().getUTCHours());
const LOCALES = { en: "en-GB", de: "de-DE" };

/** The name of the time zone that is some hours ahead of UTC; the sign in such names is that of POSIX. */
function zoneAhead(hours) {
  return hours === 0 ? "UTC" : `Etc/GMT${hours > 0 ? "-" : "+"}${Math.abs(hours)}`;
}

/** Returns the sign-in address of a demo user: `ada`, or `zoe` of the other school. */
export const emailOf = (who) => (who === "zoe" ? "zoe@other.example" : `${who}@demo.example`);

/** Starts a demo school and a browser. Tests use `scenario` of harness.mjs, which calls this. */
export async function openHarness(options = {}) {
  const demo = await Demo.start(options);
  try {
    return new Harness(demo, await chromium.launch({ executablePath: CHROMIUM, args: FLAGS }));
  } catch (error) {
    await demo.close();
    throw error;
  }
}

class Harness {
  #browser;
  #endStalls;
  #contexts = [];
  /** Pages that `reuse` returns again, by user and appearance. */
  #reusable = new Map();
  #cookies = new Map();
  /** Console messages that the current scenario expects, by page. */
  #allowed = new WeakMap();
  errors = [];

  constructor(demo, browser) {
    this.demo = demo;
    this.#browser = browser;
    if (process.env.E2E_STALLS) this.#endStalls = startStalls(demo);
  }

  /** The origin of the service. */
  get base() {
    return this.demo.base;
  }

  /**
   * Opens a page as a demo user, signed in; `nobody` is not signed in. Options: `path` to open, `dark`, `width`, `height`,
   * `language` ("en", "de"), `zone` of the browser, `fresh` for a separate session (tests that sign out), `reuse` for the page of
   * an earlier scenario, and `allow`: regular expressions of console messages that this test expects.
   *
   * A reused page has empty storage but a warm cache, and loads in half of the time. It is for scenarios that only look at a
   * screen: storage is emptied at every load, so a reload loses drafts.
   */
  async page(
    who,
    {
      path,
      dark = false,
      width = 1280,
      height = 800,
      language = "en",
      zone = NOON_ZONE,
      fresh = false,
      reuse = false,
      allow = [],
    } = {},
  ) {
    const look = { viewport: { width, height }, colorScheme: dark ? "dark" : "light" };
    const page = reuse
      ? await this.#reusedPage(who, language, zone, look)
      : await this.#newPage(who, language, zone, look, fresh);
    this.#allowed.set(page, allow);
    if (path !== undefined) {
      await page.goto(path);
      await ready(page);
    }
    return page;
  }

  async #newPage(who, language, zone, look, fresh) {
    const context = await this.#browser.newContext({
      ...look,
      baseURL: this.base,
      locale: LOCALES[language],
      timezoneId: zone,
      reducedMotion: "reduce",
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(TIMEOUT_MS);
    await context.addInitScript(keepToasts, TOAST_MS);
    if (who !== "nobody") await context.addCookies(await this.cookiesOf(who, fresh));
    const page = await context.newPage();
    this.#recordErrors(page, who);
    return page;
  }

  async #reusedPage(who, language, zone, look) {
    const key = [who, language, zone].join();
    const known = this.#reusable.get(key);
    if (known === undefined) {
      const page = await this.#newPage(who, language, zone, look, false);
      await page.addInitScript(() => {
        // Throws in frames without an origin.
        try {
          localStorage.clear();
          sessionStorage.clear();
        } catch {}
      });
      // Unsaved input of the previous scenario does not prevent navigation.
      page.on("dialog", (dialog) => dialog.accept());
      this.#reusable.set(key, page);
      return page;
    }
    await known.setViewportSize(look.viewport);
    await known.emulateMedia({ colorScheme: look.colorScheme });
    return known;
  }

  /** Returns an API client of a demo user: `await (await harness.api("ada")).get("/assignments")`. Rejected requests throw. */
  async api(who) {
    return this.#client(who, await this.cookiesOf(who, false));
  }

  #client(who, cookies) {
    const headers = {
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; "),
      origin: this.base,
      "content-type": "application/json",
    };
    const call = async (method, path, body) => {
      const response = await fetch(`${this.base}/api${path}`, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await response.text();
      assert.ok(response.ok, `${method} ${path} as ${who}: ${response.status} ${text}`);
      return text === "" ? undefined : JSON.parse(text);
    };
    return {
      get: (path) => call("GET", path),
      post: (path, body = {}) => call("POST", path, body),
      patch: (path, body) => call("PATCH", path, body),
      put: (path, body) => call("PUT", path, body),
      delete: (path) => call("DELETE", path),
    };
  }

  /** Returns the topic whose title begins with the given text. */
  async topic(title, who = "ada") {
    return findByName(await (await this.api(who)).get("/assignments"), (one) => one.title.startsWith(title), title);
  }

  /** Returns the group with the given name. */
  async group(name, who = "ada") {
    return findByName(await (await this.api(who)).get("/groups"), (one) => one.name === name, name);
  }

  /** Closes the pages of a scenario and returns the errors that it did not assert. */
  async closePages() {
    const kept = [...this.#reusable.values()];
    const contexts = new Set(kept.map((page) => page.context()));
    const closed = this.#contexts.filter((context) => !contexts.has(context));
    this.#contexts = [...contexts];
    await Promise.all([...closed.map((context) => context.close()), ...kept.map((page) => page.goto("about:blank"))]);
    return this.errors.splice(0);
  }

  /** Takes a screenshot of every open page, to diagnose a failed scenario. */
  async screenshots(name) {
    const folder = join(tmpdir(), "groupwork-e2e");
    mkdirSync(folder, { recursive: true });
    const pages = this.#contexts.flatMap((context) => context.pages());
    const path = (index) => join(folder, `${name.replaceAll(/\W+/g, "-")}-${index}.png`);
    await Promise.allSettled(pages.map((page, index) => page.screenshot({ path: path(index) })));
    return pages.map((page, index) => `${path(index)} (${page.url()})`);
  }

  async close() {
    this.#endStalls?.();
    await this.#browser.close();
    await this.demo.close();
  }

  /** Returns the session cookies of a user. Signs in once per user, because sign-ins are rate-limited by IP address. */
  async cookiesOf(who, fresh) {
    const known = this.#cookies.get(who);
    if (known !== undefined && !fresh) return known;
    const response = await fetch(`${this.base}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: this.base },
      body: JSON.stringify({ email: emailOf(who), password: PASSWORD }),
    });
    assert.ok(response.ok, `${who} cannot sign in: ${response.status} ${await response.text()}`);
    const cookies = response.headers.getSetCookie().map((header) => {
      const [pair] = header.split(";");
      const [name] = pair.split("=");
      return { name, value: pair.slice(name.length + 1), url: this.base };
    });
    // The page selects the only school by itself; a context with a cookie has it selected already.
    const api = this.#client(who, cookies);
    const [school] = await api.get("/auth/organization/list");
    await api.post("/auth/organization/set-active", { organizationId: school.id });
    if (!fresh) this.#cookies.set(who, cookies);
    return cookies;
  }

  #recordErrors(page, who) {
    const record = (text) => {
      if (![...ALWAYS_ALLOWED, ...(this.#allowed.get(page) ?? [])].some((pattern) => pattern.test(text)))
        this.errors.push(`${who}: ${text}`);
    };
    page.on("pageerror", (error) => record(`page error: ${error.message} ${error.stack}`));
    page.on("console", (message) => {
      if (message.type() === "error") record(`console: ${message.text()} ${message.location().url}`);
    });
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      const isOurs = origin === this.base || this.demo.documentServers.has(origin);
      if (!isOurs && !["data:", "blob:"].includes(protocol)) record(`request to another origin: ${request.url()}`);
    });
  }
}

function findByName(body, isWanted, name) {
  const list = Array.isArray(body) ? body : body.items;
  const item = list.find(isWanted);
  assert.ok(item, `the demo has no ${name}; it has ${list.map((each) => each.title ?? each.name).join(", ")}`);
  return item;
}

/** Waits until a screen is complete: its heading is visible, nothing is marked as busy, and it reacts to keys. */
export async function ready(page, selector = "main h1") {
  // One condition that is checked in every frame; a locator is checked again after up to half a second.
  await page.waitForFunction((headings) => {
    const heading = document.querySelector(headings);
    const isVisible =
      heading?.checkVisibility({ visibilityProperty: true }) === true && heading.getClientRects().length > 0;
    return isVisible && document.querySelector('[aria-busy="true"]') === null;
  }, selector);
  // Shortcuts and the title are set in effects, after the screen is rendered.
  await rendered(page);
}

/** Label or text of the focused element; empty if nothing is focused, since the body contains the whole text of the page. */
export const focused = (page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element === null || element === document.body
      ? ""
      : (element.getAttribute("aria-label") ?? element.textContent);
  });

/** Retries an assertion until it holds, and fails with its last error. */
export async function eventually(assertion) {
  const end = Date.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (Date.now() >= end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until the focused element has a label or text. */
export const focusIs = (page, words, what = "focus") =>
  eventually(async () => {
    const text = await focused(page);
    if (typeof words === "string") assert.equal(text, words, `${what}: ${text}`);
    else assert.match(text, words, `${what}: ${text}`);
  });

/** Presses a key that moves the focus, and waits until it has moved. */
export async function moveFocus(page, key) {
  const before = await page.evaluateHandle(() => document.activeElement);
  await page.keyboard.press(key);
  await page.waitForFunction(
    (element) => document.activeElement !== element && document.activeElement !== document.body,
    before,
  );
}

/** Chooses an item of a menu that a key has opened. */
export async function pressItem(page, item) {
  // The menu moves the focus to its first item.
  await page.waitForFunction(() => document.activeElement?.getAttribute("role")?.startsWith("menuitem"));
  await item.press("Enter");
}

/** Keeps toasts open that close after some seconds: on a busy machine "Undo" would be gone before the press. */
function keepToasts(lifetime) {
  const { setTimeout: start } = window;
  // The timer of a toast of react-stately, which starts with the rest of the time after a pause.
  const isToast = (callback, delay) => delay > 0 && delay <= 8_000 && /timerId.*remaining/s.test(String(callback));
  window.keptToasts = 0;
  window.setTimeout = (callback, delay, ...rest) => {
    if (!isToast(callback, delay)) return start(callback, delay, ...rest);
    window.keptToasts += 1;
    return start(callback, lifetime, ...rest);
  };
}

/** Returns the characters that the built-in editor has in the store of the browser, because the service may not have them yet. */
export function unsentText(page) {
  return page.evaluate(async () => {
    const done = (request) =>
      new Promise((resolve, reject) => {
        request.addEventListener("success", () => resolve(request.result));
        request.addEventListener("error", () => reject(request.error));
      });
    const known = await indexedDB.databases();
    if (!known.some(({ name }) => name === "groupwork-editor")) return "";
    const database = await done(indexedDB.open("groupwork-editor"));
    try {
      const names = [...database.objectStoreNames];
      const transaction = database.transaction(names);
      const all = await Promise.all(names.map((name) => done(transaction.objectStore(name).getAll())));
      return [...JSON.stringify(all).matchAll(/"text":("(?:[^"\\]|\\.)*")/g)]
        .map(([, text]) => JSON.parse(text))
        .join("");
    } finally {
      database.close();
    }
  });
}

/** Signs in through the form. */
export async function signIn(page, who, password = PASSWORD) {
  await page.locator("input[name=email]").fill(emailOf(who));
  await page.locator("input[name=password]").fill(password);
  await page.keyboard.press("Enter");
}

/** Waits until the page has handled the events of the last key or click, and has rendered the result of their handlers. */
export function rendered(page) {
  const frames = () =>
    new Promise((resolve) => {
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 0)));
    });
  return page.evaluate(frames);
}

/**
 * Waits until the page has received the event of a selection that a key has moved. An editor learns of the selection from
 * this event, so a key that follows sooner acts at the former place.
 */
export const selectionMoved = rendered;

/** Reloads a page as that of an installation with a mail server; the demo has none. */
export async function withMailServer(page) {
  const respond = async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), sendsEmail: true } });
  };
  await page.route("**/api/health", respond);
  await Promise.all([page.waitForResponse("**/api/health"), page.reload()]);
  await ready(page);
  await page.unroute("**/api/health");
}

/** Waits until a condition holds in the state of the service. */
export async function until(question, what) {
  const end = Date.now() + TIMEOUT_MS;
  while (!(await question())) {
    assert.ok(Date.now() < end, `timeout: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
