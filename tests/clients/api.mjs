// Plain HTTP requests to the service, and checks. A failed check always shows the request and the response.
import { isDeepStrictEqual } from 'node:util';

/** A failed check. `exchange` is the HTTP response that was checked, if there is one. */
export class Failure extends Error {
  constructor(reason, exchange) {
    super(reason);
    this.exchange = exchange;
  }
}

export function must(holds, reason, exchange) {
  if (!holds) throw new Failure(reason, exchange);
}

export function same(actual, expected, what, exchange) {
  must(
    isDeepStrictEqual(actual, expected),
    `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`,
    exchange,
  );
}

/** Returns the ids sorted as text, for responses whose order does not matter. */
export const sorted = (ids) => [...ids].sort();

/** Repeats the request until `holds(answer)` or the timeout; returns the last response. */
export async function eventually(ask, holds, what, within = 15_000) {
  const end = Date.now() + within;
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    must(Date.now() < end, `${what}: not within ${within} ms`, answer instanceof Answer ? answer : undefined);
    await new Promise((done) => setTimeout(done, 100));
  }
}

class Answer {
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

  /** Requires this status and, for an error, this code and the shape of all errors. */
  is(status, code) {
    must(this.status === status, `expected ${status}${code ? ` ${code}` : ''}, got ${this.status}`, this);
    if (code) {
      same(this.body?.code, code, 'code', this);
      must(typeof this.body.message === 'string' && this.body.message, 'a refusal needs a message', this);
      must(typeof this.body.requestId === 'string' && this.body.requestId, 'a refusal needs a requestId', this);
    }
    return this;
  }

  /** The error body without what differs between requests. */
  get refusal() {
    const { requestId, ...rest } = this.body ?? {};
    return { status: this.status, ...rest };
  }

  /** Requires that the body contains none of these texts. */
  without(...texts) {
    for (const text of texts) must(!this.text.includes(text), `the answer gives away ${JSON.stringify(text)}`, this);
    return this;
  }

  describe() {
    const { method, url, sent, who } = this.request;
    const shown = this.body === undefined ? `<${this.bytes.byteLength} bytes> ${this.text.slice(0, 300)}` : this.text;
    return [
      `  request: ${method} ${url} (as ${who})`,
      ...(sent === undefined ? [] : [`  sent:    ${sent}`]),
      `  answer:  ${this.status} ${this.headers.get('content-type') ?? ''}`,
      `  body:    ${shown.slice(0, 4000)}`,
    ].join('\n');
  }
}

/** Requests of one user below one URL; `fetcher` sends the user's cookies. */
export class Api {
  constructor(baseUrl, who, fetcher = fetch) {
    this.baseUrl = baseUrl.replace(/\/$/, '');
    this.who = who;
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
    const request = { method, url, sent, who: this.who };
    let response;
    try {
      response = await this.fetcher(url, init);
      return new Answer(request, response, await response.arrayBuffer());
    } catch (error) {
      throw new Failure(`${method} ${url}: ${error.cause?.message ?? error.message}`);
    }
  }

  get = (path) => this.call('GET', path);
  post = (path, body) => this.call('POST', path, body);
  patch = (path, body) => this.call('PATCH', path, body);
  put = (path, body) => this.call('PUT', path, body);
  delete = (path) => this.call('DELETE', path);
}

/** A form with one file. Text fields come first, so that a server can decide before it reads the file. */
export function upload(fileName, bytes, type, fields = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([bytes], { type }), fileName);
  return form;
}

/** Runs the numbered steps and prints a line for each; the first failure ends the program with exit code 1. */
export async function tell(steps, { limit = 240_000 } = {}) {
  const watchdog = setTimeout(() => {
    console.log(`not ok: not finished after ${limit} ms`);
    process.exit(1);
  }, limit);
  for (const [index, [title, act]] of steps.entries()) {
    try {
      await act();
      console.log(`ok ${index + 1} ${title}`);
    } catch (error) {
      console.log(`not ok ${index + 1} ${title}: ${error.message}`);
      if (error.exchange) console.log(error.exchange.describe());
      if (!(error instanceof Failure)) console.log(error.stack);
      process.exit(1);
    }
  }
  clearTimeout(watchdog);
}

/** Reads the argument of these programs: JSON in argv or in GROUPWORK_WORLD. */
export function world() {
  const text = process.argv[2] ?? process.env.GROUPWORK_WORLD;
  if (!text) {
    console.error('give the world as JSON, as the first argument or in GROUPWORK_WORLD; see tests/README.md');
    process.exit(2);
  }
  return JSON.parse(text);
}
