// HTTP requests and assertions. A failed assertion prints the request and the response.
import { isDeepStrictEqual } from 'node:util';

/** The timeout of every wait: a watchdog for a busy machine, not a guarantee of the service. */
export const WAIT_MILLISECONDS = 120_000;
// Less than the limit of the Rust test that runs the program, which does not show what the program has printed.
const PROGRAM_MILLISECONDS = 600_000;

/** A failed assertion. `exchange` is the HTTP response that was checked, if there is one. */
export class CheckError extends Error {
  constructor(reason, exchange) {
    super(reason);
    this.exchange = exchange;
  }
}

export function assert(condition, reason, exchange) {
  if (!condition) throw new CheckError(reason, exchange);
}

export function assertEqual(actual, expected, what, exchange) {
  assert(
    isDeepStrictEqual(actual, expected),
    `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`,
    exchange,
  );
}

/** Returns a sorted copy of ids, for responses whose order is not tested. */
export const sorted = (ids) => [...ids].sort();

/** Repeats a request until the condition holds, and returns the last result. Fails after `within` milliseconds. */
export async function waitUntil(request, condition, what, within = WAIT_MILLISECONDS) {
  const end = Date.now() + within;
  for (;;) {
    const result = await request();
    if (condition(result)) return result;
    assert(Date.now() < end, `${what}: not within ${within} ms`, result instanceof ApiResponse ? result : undefined);
    await new Promise((done) => setTimeout(done, 100));
  }
}

class ApiResponse {
  constructor(request, response, bytes) {
    this.request = request;
    this.status = response.status;
    this.headers = response.headers;
    this.bytes = bytes;
    this.text = Buffer.from(bytes).toString('utf8');
    try {
      this.body = JSON.parse(this.text);
    } catch {
      this.body = undefined;
    }
  }

  /** Requires this status and, for an error, this code and the fields of every error body. */
  expect(status, code) {
    assert(this.status === status, `expected ${status}${code ? ` ${code}` : ''}, got ${this.status}`, this);
    if (code) {
      assertEqual(this.body?.code, code, 'code', this);
      assert(typeof this.body.message === 'string' && this.body.message, 'an error needs a message', this);
      assert(typeof this.body.requestId === 'string' && this.body.requestId, 'an error needs a requestId', this);
    }
    return this;
  }

  /** Returns status and body of an error without the fields that differ between requests. */
  get errorBody() {
    const { requestId, ...rest } = this.body ?? {};
    return { status: this.status, ...rest };
  }

  /** Requires that the body contains none of these texts. */
  expectWithout(...texts) {
    for (const text of texts) assert(!this.text.includes(text), `the response contains ${JSON.stringify(text)}`, this);
    return this;
  }

  describe() {
    const { method, url, sent, label } = this.request;
    const shown = this.body === undefined ? `<${this.bytes.byteLength} bytes> ${this.text.slice(0, 300)}` : this.text;
    return [
      `  request:  ${method} ${url} (as ${label})`,
      ...(sent === undefined ? [] : [`  sent:     ${sent}`]),
      `  response: ${this.status} ${this.headers.get('content-type') ?? ''}`,
      `  body:     ${shown.slice(0, 4000)}`,
    ].join('\n');
  }
}

/** Sends requests below one address as one user. `fetcher` adds the cookies of the user. */
export class Api {
  constructor(baseUrl, label, fetcher = fetch) {
    this.baseUrl = baseUrl.replace(/\/$/, '');
    this.label = label;
    this.fetcher = fetcher;
  }

  async call(method, path, body, headers = {}) {
    const url = this.baseUrl + path;
    const init = { method, headers: { ...headers }, redirect: 'manual', signal: AbortSignal.timeout(130_000) };
    let sent;
    if (body instanceof FormData) {
      init.body = body;
      sent = [...body].map(([name, value]) => `${name}=${value.name ?? value}`).join(' ');
    } else if (body !== undefined) {
      init.body = sent = JSON.stringify(body);
      init.headers['content-type'] = 'application/json';
    }
    const request = { method, url, sent, label: this.label };
    let response;
    try {
      response = await this.fetcher(url, init);
      return new ApiResponse(request, response, await response.arrayBuffer());
    } catch (error) {
      throw new CheckError(`${method} ${url}: ${error.cause?.message ?? error.message}`);
    }
  }

  get = (path) => this.call('GET', path);
  post = (path, body) => this.call('POST', path, body);
  patch = (path, body) => this.call('PATCH', path, body);
  put = (path, body) => this.call('PUT', path, body);
  delete = (path) => this.call('DELETE', path);
}

/** Returns a form with one file. Text fields come first, so that a server can check them before it reads the file. */
export function upload(fileName, bytes, type, fields = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([bytes], { type }), fileName);
  return form;
}

/** Runs the steps and prints a numbered line for each. The first step that fails ends the program with exit code 1. */
export async function runSteps(steps, { limit = PROGRAM_MILLISECONDS } = {}) {
  const watchdog = setTimeout(() => {
    console.log(`not ok: not finished after ${limit} ms`);
    process.exit(1);
  }, limit);
  for (const [index, [title, run]] of steps.entries()) {
    try {
      await run();
      console.log(`ok ${index + 1} ${title}`);
    } catch (error) {
      console.log(`not ok ${index + 1} ${title}: ${error.message}`);
      if (error.exchange) console.log(error.exchange.describe());
      if (!(error instanceof CheckError)) console.log(error.stack);
      process.exit(1);
    }
  }
  clearTimeout(watchdog);
}

/** Returns the description of the server and its users: JSON in the first argument or in GROUPWORK_WORLD. */
export function readWorld() {
  const text = process.argv[2] ?? process.env.GROUPWORK_WORLD;
  if (!text) {
    console.error('pass the server and its users as JSON, in the first argument or in GROUPWORK_WORLD; see tests/README.md');
    process.exit(2);
  }
  return JSON.parse(text);
}
