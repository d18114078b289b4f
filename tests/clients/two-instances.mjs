// Two instances behind nginx, with PostgreSQL and an object store: played by scripts/play-nginx, which starts everything but
// the instances. Prints what it does and what it found; exits with code 1 at the first check that fails.
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { io } from 'socket.io-client';

const { PLAY_BINARY: BINARY, PLAY_FOLDER: FOLDER, PLAY_STORE, PLAY_LOG, PLAY_DATABASE } = process.env;
const ORIGIN = 'https://school.example';
// The clients are not nginx, which is the trusted proxy at 127.0.0.1.
const CLIENT_ADDRESS = '127.0.0.5';
const DRAIN_SECONDS = 10;
const PASSWORD = 'a bench under two limes';
const UPLOAD_BYTES = 20_000_000;
const ROUNDS = Number(process.env.PLAY_ROUNDS ?? 2);

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const say = (text) => console.log(text);
const section = (text) => console.log(`== ${text} (${Math.round(performance.now() / 1000)} s)`);
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

function check(condition, what) {
  if (condition) return;
  throw new Error(`check failed: ${what}`);
}

async function until(what, condition, within = 30_000) {
  for (const end = Date.now() + within; ;) {
    const result = await condition();
    if (result) return result;
    check(Date.now() < end, `${what} within ${within} ms`);
    await pause(50);
  }
}

// --- requests ---

const agent = new https.Agent({ keepAlive: true, localAddress: CLIENT_ADDRESS, maxSockets: 64 });

/** The result of a request; status 0 without a response. */
function send(url, { method = 'GET', headers = {}, body, localAddress = CLIENT_ADDRESS } = {}) {
  const plain = url.startsWith('http:');
  return new Promise((done) => {
    const options = { method, headers, localAddress, ...(plain ? {} : { agent }) };
    const request = (plain ? http : https).request(url, options, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('error', (error) => done({ status: 0, error: `response cut: ${error.message}` }));
      response.on('end', () => {
        const bytes = Buffer.concat(parts);
        let json;
        try {
          json = JSON.parse(bytes.toString());
        } catch {
          json = undefined;
        }
        done({ status: response.statusCode, headers: response.headers, bytes, json });
      });
    });
    request.on('error', (error) => done({ status: 0, error: error.message }));
    request.end(body);
  });
}

/** The requests of the present phase. */
const phase = { requests: 0, failed: [] };
function beginPhase() {
  phase.requests = 0;
  phase.failed = [];
}

let labels = 0;
class User {
  constructor(email) {
    this.email = email;
    this.cookies = new Map();
  }

  get cookie() {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Sends a request through nginx. `label` is written to the log of nginx. */
  async send(method, path, { json, form, headers = {}, label } = {}) {
    const all = { origin: ORIGIN, ...headers };
    if (this.cookies.size > 0) all.cookie = this.cookie;
    if (label) all['x-play'] = label;
    let body;
    if (json !== undefined) {
      body = Buffer.from(JSON.stringify(json));
      all['content-type'] = 'application/json';
    } else if (form) {
      const boundary = randomUUID();
      const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${form.name}"\r\n\r\n`;
      body = Buffer.concat([Buffer.from(head), form.bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
      all['content-type'] = `multipart/form-data; boundary=${boundary}`;
    }
    if (body) all['content-length'] = body.length;
    const result = await send(`${ORIGIN}/api${path}`, { method, headers: all, body });
    for (const line of result.headers?.['set-cookie'] ?? []) {
      const [pair] = line.split(';');
      const cut = pair.indexOf('=');
      if (/max-age=0\b/i.test(line)) this.cookies.delete(pair.slice(0, cut));
      else this.cookies.set(pair.slice(0, cut), pair.slice(cut + 1));
    }
    phase.requests += 1;
    if (result.status === 0 || result.status >= 400)
      phase.failed.push(`${method} ${path}: ${result.status} ${result.json?.code ?? result.error ?? ''}`);
    return result;
  }

  /** Sends a request that must succeed, and returns its body. */
  async ask(method, path, options) {
    const result = await this.send(method, path, options);
    const text = result.bytes?.toString().slice(0, 400) ?? result.error;
    check(result.status >= 200 && result.status < 300, `${this.email}: ${method} ${path}: ${result.status} ${text}`);
    return result.json;
  }

  async signIn() {
    this.cookies.clear();
    await this.ask('POST', '/auth/sign-in/email', { json: { email: this.email, password: PASSWORD } });
    const [school] = await this.ask('GET', '/auth/organization/list');
    await this.ask('POST', '/auth/organization/set-active', { json: { organizationId: school.id } });
    return this;
  }
}

/** Returns the instance that responded to a labeled request, by the log of nginx. */
async function instanceOf(label) {
  const line = await until(`a line of ${label} in the log of nginx`, () =>
    readFileSync(`${PLAY_LOG}/play.log`, 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`${label}|`)),
  );
  const port = line.split('|')[1].split(',').at(-1).trim().split(':')[1];
  return instances.find((instance) => String(instance.port) === port);
}

// --- instances ---

class Instance {
  constructor(name, port) {
    this.name = name;
    this.port = port;
    this.base = `http://127.0.0.1:${port}`;
    this.data = `${FOLDER}/data-${name}`;
    this.log = `${FOLDER}/${name}.log`;
    this.envFile = `${FOLDER}/${name}.env`;
    mkdirSync(this.data);
  }

  configure(settings) {
    const own = {
      LISTEN: `127.0.0.1:${this.port}`,
      METRICS_LISTEN: `127.0.0.1:${this.port + 1000}`,
      DATA_DIR: this.data,
    };
    const lines = Object.entries({ ...settings, ...own }).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(this.envFile, lines.join(''), { mode: 0o600 });
  }

  start() {
    const log = openSync(this.log, 'a');
    const environment = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: undefined };
    const child = spawn(BINARY, ['serve', '--env-file', this.envFile], {
      stdio: ['ignore', log, log],
      env: environment,
      cwd: FOLDER,
    });
    closeSync(log);
    this.exit = new Promise((done) => child.once('exit', (code, signal) => done({ code, signal })));
    this.child = child;
  }

  ready() {
    const isReady = async () => {
      check(this.child.exitCode === null, `${this.name} runs: ${readFileSync(this.log, 'utf8').slice(-400)}`);
      return (await this.get('/api/health/ready')).status === 200;
    };
    return until(`${this.name} is ready`, isReady, 60_000);
  }

  get(path, headers = {}) {
    return send(`${this.base}${path}`, { headers });
  }

  async stop(signal) {
    this.child.kill(signal);
    return this.exit;
  }

  /** The number of WebSockets. */
  async sockets() {
    const { bytes } = await send(`http://127.0.0.1:${this.port + 1000}/metrics`, { headers: { accept: 'text/plain' } });
    return Number(/^groupwork_websocket_connections (\d+)/m.exec(bytes.toString())?.[1]);
  }

  command(...words) {
    return this.commandWithInput('', ...words);
  }

  commandWithInput(input, ...words) {
    const options = { input, encoding: 'utf8', stdio: 'pipe', cwd: FOLDER, env: { PATH: process.env.PATH } };
    return execFileSync(BINARY, [...words, '--env-file', this.envFile], options);
  }
}

const instances = [new Instance('a', 3000), new Instance('b', 3001)];
const [a, b] = instances;
const other = (instance) => (instance === a ? b : a);

const store = Object.fromEntries(
  readFileSync(PLAY_STORE, 'utf8')
    .trim()
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
);
const settings = {
  FRONTEND_URL: ORIGIN,
  TRUST_PROXY: '127.0.0.1',
  DATABASE_URL: PLAY_DATABASE,
  ...store,
  AUTH_SECRET: randomBytes(32).toString('hex'),
  DOCSERVER_JWT_SECRET: randomBytes(32).toString('hex'),
  DRAIN_SECONDS,
  LOG_FORMAT: 'json',
  // The writers are few users who write much.
  RATE_LIMIT_FACTOR: 50,
};
const configure = (changed = {}) => instances.forEach((instance) => instance.configure({ ...settings, ...changed }));

// --- sockets ---

/** A socket through nginx, with the official client as in a browser. */
class Listener {
  constructor(user) {
    this.events = [];
    this.readies = 0;
    this.cuts = 0;
    this.socket = io(ORIGIN, {
      path: '/api/socket.io',
      transports: ['websocket'],
      forceNew: true,
      reconnectionDelay: 200,
      reconnectionDelayMax: 1000,
      extraHeaders: { cookie: user.cookie, origin: ORIGIN },
    });
    this.socket.on('ready', () => (this.readies += 1));
    this.socket.on('disconnect', (reason) => {
      this.cuts += 1;
      this.reason = reason;
    });
    this.socket.onAny((event, payload) => this.events.push({ event, payload }));
  }

  /** Opens a socket and finds out at which instance it is. */
  static async open(user) {
    const before = await Promise.all(instances.map((instance) => instance.sockets()));
    const listener = new Listener(user);
    await until('the socket is ready', () => listener.readies > 0);
    const after = await Promise.all(instances.map((instance) => instance.sockets()));
    listener.instance = instances.find((_, at) => after[at] > before[at]);
    check(listener.instance, 'one instance has the socket');
    return listener;
  }

  has(event, where) {
    return this.events.some((one) => one.event === event && where(one.payload ?? {}));
  }
}

// --- writers ---

/** What was acknowledged: texts of messages and references of commits with their text, and what may or may not exist. */
const ledger = { messages: new Set(), commits: new Map(), files: new Map(), uncertain: new Set() };
let isWriting = false;
let mayRetry = false;
let retries = 0;
let written = 0;

/** Sends a request; while an instance is killed, again with the same key, as the client does. */
async function acknowledged(user, method, path, options, name) {
  for (let attempt = 0; ; attempt += 1) {
    const result = await user.send(method, path, options);
    if (result.status >= 200 && result.status < 300) {
      ledger.uncertain.delete(name);
      written += 1;
      return result;
    }
    ledger.uncertain.add(name);
    if (!mayRetry || attempt >= 100) return undefined;
    retries += 1;
    await pause(50);
  }
}

async function writeMessages(user, room) {
  for (let number = 0; isWriting; number += 1) {
    const text = `message ${user.email} ${number} ${randomUUID()}`;
    const headers = { 'idempotency-key': randomUUID() };
    const done = await acknowledged(
      user,
      'POST',
      `/workrooms/${room}/messages`,
      { json: { content: text }, headers },
      text,
    );
    if (done) ledger.messages.add(text);
    await pause(20);
  }
}

async function writeCommits(user, document) {
  for (let number = 0; isWriting; number += 1) {
    const ref = randomUUID();
    const text = `<${ref}>`;
    const slice = { content: [{ type: 'text', text }] };
    const json = {
      generation: 1,
      ref,
      clientId: user.email.split('@')[0],
      version: 0,
      steps: [{ stepType: 'replace', from: 1, to: 1, slice }],
    };
    const done = await acknowledged(user, 'POST', `/workrooms/documents/${document}/commits`, { json }, ref);
    if (done) {
      check(done.json.outcome === 'COMMITTED', `the outcome of a commit is ${done.json.outcome}`);
      ledger.commits.set(ref, text);
    }
    await pause(100);
  }
}

async function writeFiles(user, room) {
  for (let number = 0; isWriting; number += 1) {
    const bytes = Buffer.from(randomBytes(150_000).toString('hex'));
    const form = { name: `notes-${number}.txt`, bytes };
    const headers = { 'idempotency-key': randomUUID() };
    const done = await acknowledged(
      user,
      'POST',
      `/workrooms/${room}/messages/attachments`,
      { form, headers },
      form.name,
    );
    if (!done) continue;
    const text = `message ${user.email} with ${form.name} ${randomUUID()}`;
    const json = { content: text, attachmentIds: [done.json.id] };
    const sent = await acknowledged(
      user,
      'POST',
      `/workrooms/${room}/messages`,
      { json, headers: { 'idempotency-key': randomUUID() } },
      text,
    );
    if (sent) {
      ledger.messages.add(text);
      ledger.files.set(done.json.id, { room, hash: sha256(bytes) });
    }
    await pause(300);
  }
}

async function read(user, paths) {
  while (isWriting) {
    for (const path of paths) await acknowledged(user, 'GET', path, {}, 'read');
    await pause(10);
  }
}

/** Reads over one HTTP/2 connection, as a browser does. */
async function readHttp2(user) {
  let session;
  for (let number = 0; isWriting; number += 1) {
    // nginx ends a connection after 1,000 requests.
    if (number % 500 === 0) {
      session?.close();
      session = http2.connect(ORIGIN);
      session.on('error', (error) => phase.failed.push(`HTTP/2: ${error.message}`));
    }
    const status = await new Promise((done) => {
      const request = session.request({ ':path': '/api/users/me', cookie: user.cookie });
      let code = 0;
      request.on('response', (headers) => (code = headers[':status']));
      request.on('error', () => done(0));
      request.on('close', () => done(code));
      request.resume();
      request.end();
    });
    phase.requests += 1;
    if (status !== 200) phase.failed.push(`GET /users/me: ${status} (HTTP/2)`);
    await pause(10);
  }
  session?.close();
}

function startWriters() {
  isWriting = true;
  const all = [
    ...[ben, cem, ada].map((user) => writeMessages(user, room)),
    ...[ben, cem].map((user) => writeCommits(user, document)),
    writeFiles(cem, room),
    ...[ada, ben].map((user) => read(user, ['/classes', `/groups/${group}`, `/workrooms/${room}/messages`])),
    readHttp2(ada),
  ];
  return async () => {
    isWriting = false;
    await Promise.all(all);
  };
}

/** Compares everything that was acknowledged with what the service returns now. */
async function checkLedger() {
  const texts = [];
  for (let cursor; ;) {
    const page = await ada.ask('GET', `/workrooms/${room}/messages?limit=100${cursor ? `&cursor=${cursor}` : ''}`);
    texts.push(...page.data.map((message) => message.content));
    cursor = page.nextCursor;
    if (!cursor) break;
  }
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  for (const text of ledger.messages)
    check(counts.get(text) === 1, `${text} exists once, not ${counts.get(text)} times`);
  const twice = [...counts].filter(([text, count]) => text.startsWith('message ') && count > 1);
  check(twice.length === 0, `messages exist twice: ${twice.map(([text]) => text)}`);
  const content = JSON.stringify((await ada.ask('GET', `/workrooms/documents/${document}/content`)).doc);
  for (const text of ledger.commits.values()) {
    const count = content.split(text).length - 1;
    check(count === 1, `the commit ${text} exists once, not ${count} times`);
  }
  let compared = 0;
  for (const [id, file] of ledger.files) {
    const path = `/workrooms/${file.room}/messages/attachments/${id}/download`;
    const { status, bytes } = await cem.send('GET', path);
    check(status === 200 && sha256(bytes) === file.hash, `the file ${id} is the one that was uploaded`);
    compared += 1;
  }
  const { messages, commits } = ledger;
  say(`acknowledged and found once: ${messages.size} messages, ${commits.size} commits, ${compared} files; lost: 0`);
}

/** Causes an event, until every listener received one. Returns the number of events. */
async function expectEvent(listeners) {
  let number = 0;
  const waiting = new Set(listeners);
  await until(
    'every socket receives an event',
    async () => {
      const name = `Danube ${(number += 1)} ${randomUUID().slice(0, 8)}`;
      await ada.ask('PATCH', `/groups/${group}`, { json: { name } });
      await pause(200);
      for (const listener of waiting)
        if (listener.has('group:updated', (payload) => payload.group?.name === name)) waiting.delete(listener);
      return waiting.size === 0;
    },
    60_000,
  );
  for (const listener of listeners) listener.events.length = 0;
  return number;
}

/** Stops one instance with SIGTERM, starts it again, and continues when it is ready, as docs/operation.md describes. */
async function restart(instance, listeners) {
  const before = listeners.map((listener) => ({ cuts: listener.cuts, readies: listener.readies }));
  const since = Date.now();
  const { code } = await instance.stop('SIGTERM');
  check(code === 0, `${instance.name} ends with code 0, not ${code}`);
  const stopped = Date.now() - since;
  instance.start();
  await instance.ready();
  const events = await expectEvent(listeners);
  const cut = listeners.filter((listener, at) => listener.cuts > before[at].cuts);
  const back = listeners.filter((listener, at) => listener.readies > before[at].readies);
  check(
    cut.every((listener) => listener.socket.connected),
    'all sockets are connected again',
  );
  check(back.length >= cut.length, 'every socket that was closed received `ready` again');
  const seconds = (milliseconds) => (milliseconds / 1000).toFixed(1);
  say(
    `${instance.name}: stopped in ${seconds(stopped)} s, ready again after ${seconds(Date.now() - since)} s; ` +
      `${cut.length} of ${listeners.length} sockets reconnected; all received an event (attempt ${events})`,
  );
}

function reportPhase(what) {
  say(`${what}: ${phase.requests} requests, ${phase.failed.length} failed`);
  for (const line of phase.failed.slice(0, 10)) say(`  ${line}`);
}

// --- the play ---

let ada, ben, cem, group, room, document;

async function play() {
  section('start');
  say(`release: ${execFileSync(BINARY, ['--version'], { encoding: 'utf8' }).trim()}; schema and bucket are empty`);
  configure();
  instances.forEach((instance) => instance.start());
  await Promise.all(instances.map((instance) => instance.ready()));
  say('a and b started at the same time on an empty database: ready');
  a.command(
    'school',
    'create',
    '--name',
    'Play School',
    '--slug',
    'play',
    '--owner-email',
    'head@school.example',
    '--owner-name',
    'Hedda Head',
  );
  const people = `${FOLDER}/people.csv`;
  const emails = ['ada', 'ben', 'cem'].map((name) => `${name}@school.example`);
  const rows = emails.map((email, at) => `${email},${email.slice(0, 3)},Play,${at === 0 ? 'teacher' : 'student'}\n`);
  writeFileSync(people, `email,firstName,lastName,role\n${rows.join('')}`);
  a.command('import', people, '--organization', 'play');
  for (const email of emails)
    b.commandWithInput(`${PASSWORD}\n`, 'admin', 'reset-password', '--email', email, '--password-stdin');

  section('sign-in through nginx');
  [ada, ben, cem] = await Promise.all(emails.map((email) => new User(email).signIn()));
  for (const user of [ada, ben, cem]) user.me = await user.ask('GET', '/users/me');
  say(`signed in: ${[ada, ben, cem].map((user) => `${user.me.email} (${user.me.role})`).join(', ')}`);
  const classId = (await ada.ask('POST', '/classes', { json: { name: '7b', academicYear: '2026/2027' } })).id;
  await ada.ask('POST', `/classes/${classId}/students`, { json: { studentIds: [ben.me.id, cem.me.id] } });
  const made = await ada.ask('POST', '/groups', {
    json: { name: 'Danube', classId, memberIds: [ben.me.id, cem.me.id] },
  });
  [group, room] = [made.id, made.workRoomId];
  document = (
    await ben.ask('POST', `/workrooms/${room}/documents`, { json: { title: 'Report', documentType: 'word' } })
  ).id;

  section('sockets and events across the instances');
  const listeners = [];
  for (let number = 0; number < 12; number += 1) {
    listeners.push(await Listener.open([ada, ben, cem][number % 3]));
    if (number >= 5 && instances.every((one) => listeners.some((listener) => listener.instance === one))) break;
  }
  for (const instance of instances) {
    const listener = listeners.find((one) => one.instance === instance);
    check(listener, `${instance.name} has a socket`);
    await until('the event is caused through the other instance', async () => {
      const label = `event-${(labels += 1)}`;
      const name = `Danube ${label}`;
      await ada.ask('PATCH', `/groups/${group}`, { json: { name }, label });
      await until('the event arrives', () => listener.has('group:updated', (payload) => payload.group?.name === name));
      return (await instanceOf(label)) === other(instance);
    });
    say(`socket at ${instance.name}, change through ${other(instance).name}: received`);
  }

  section(`upload and download of ${UPLOAD_BYTES / 1_000_000} MB`);
  const bytes = Buffer.from(randomBytes(UPLOAD_BYTES / 2).toString('hex'));
  const uploaded = await ada.ask('POST', `/groups/${group}/attachments`, {
    form: { name: 'measurements.txt', bytes },
    label: 'upload',
  });
  check(uploaded.size === UPLOAD_BYTES, `the size of the upload is ${uploaded.size}`);
  const seen = new Set();
  await until('both instances were asked for the file', async () => {
    const label = `download-${(labels += 1)}`;
    const found = await ben.send('GET', `/groups/${group}/attachments/${uploaded.id}/download`, { label });
    check(found.status === 200 && sha256(found.bytes) === sha256(bytes), 'the download has the uploaded bytes');
    seen.add(await instanceOf(label));
    return seen.size === 2;
  });
  say(`uploaded through ${(await instanceOf('upload')).name}, downloaded through a and b: SHA-256 equal`);

  section('the built-in editor through both instances');
  await ben.ask('GET', `/workrooms/documents/${document}/content`);
  const committed = [new Set(), new Set()];
  const commit = async (user, at, number) => {
    const [ref, label] = [`${at}-${number}`, `commit-${at}-${number}`];
    const slice = { content: [{ type: 'text', text: `<${ref}>` }] };
    const json = {
      generation: 1,
      ref,
      clientId: `c${at}`,
      version: 0,
      steps: [{ stepType: 'replace', from: 1, to: 1, slice }],
    };
    const { outcome } = await user.ask('POST', `/workrooms/documents/${document}/commits`, { json, label });
    check(outcome === 'COMMITTED', `the outcome is ${outcome}`);
    ledger.commits.set(ref, `<${ref}>`);
    committed[at].add(await instanceOf(label));
  };
  const many = async (user, at) => {
    for (let number = 0; number < 20; number += 1) await commit(user, at, number);
  };
  await Promise.all([many(ben, 0), many(cem, 1)]);
  // Two writers who take turns can each get the same instance every time; one who writes alone cannot.
  let next = 20;
  for (const [at, user] of [ben, cem].entries())
    await until('the writer wrote through both instances', async () => {
      if (committed[at].size < 2) await commit(user, at, (next += 1));
      return committed[at].size === 2;
    });
  const texts = await Promise.all(
    [ben, cem, ada].map((user) => user.ask('GET', `/workrooms/documents/${document}/content`)),
  );
  check(new Set(texts.map((text) => JSON.stringify(text.doc))).size === 1, 'all read the same text');
  const commits = ledger.commits.size;
  say(`ben and cem: ${commits} commits at the same place, each writer through a and b; all read the same text`);
  await checkLedger();

  section('the address of the client');
  const claimed = { 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9', forwarded: 'for=203.0.113.9' };
  const health = await send(`${ORIGIN}/api/health`, { headers: claimed });
  check(health.json.connection.client === CLIENT_ADDRESS, `nginx: ${JSON.stringify(health.json.connection)}`);
  const direct = await a.get('/api/health', claimed);
  check(direct.json.connection.client === CLIENT_ADDRESS, `direct: ${JSON.stringify(direct.json.connection)}`);
  const wrong = Buffer.from(JSON.stringify({ email: 'ben@school.example', password: 'wrong' }));
  const headers = { ...claimed, origin: ORIGIN, 'content-type': 'application/json', 'content-length': wrong.length };
  for (let number = 0; number < 2; number += 1) {
    const refused = await send(`${ORIGIN}/api/auth/sign-in/email`, { method: 'POST', headers, body: wrong });
    check(refused.status === 401, `a wrong password is a 401, not ${refused.status}`);
  }
  const audit = await until('the audit lines are written', () => {
    const lines = instances.flatMap((instance) => readFileSync(instance.log, 'utf8').split('\n'));
    const found = lines.filter((line) => line.includes('sign-in failed'));
    return found.length >= 2 && found;
  });
  check(
    audit.every((line) => line.includes(CLIENT_ADDRESS) && !line.includes('203.0.113.9')),
    `audit: ${audit}`,
  );
  say(
    `X-Forwarded-For: 203.0.113.9 from ${CLIENT_ADDRESS}: health, a direct request and 2 failed sign-ins name ${CLIENT_ADDRESS}`,
  );

  section(`rolling restart with DRAIN_SECONDS=${DRAIN_SECONDS}, ${ROUNDS} rounds, while requests run`);
  beginPhase();
  let stop = startWriters();
  for (let round = 0; round < ROUNDS; round += 1) for (const instance of instances) await restart(instance, listeners);
  await stop();
  reportPhase('rolling restart');
  check(phase.failed.length === 0, 'no request failed');
  await checkLedger();

  section('SIGKILL during writes');
  beginPhase();
  mayRetry = true;
  stop = startWriters();
  for (const instance of instances) {
    await pause(2000);
    const count = written;
    const { signal } = await instance.stop('SIGKILL');
    check(signal === 'SIGKILL', 'killed');
    await until('the other instance continues', () => written > count + 50);
    instance.start();
    await instance.ready();
    await expectEvent(listeners);
    say(`${instance.name}: killed, the other instance went on, ready again; all sockets received an event`);
  }
  await stop();
  const statuses = phase.failed.map((line) => line.replace(/^(\w+) .*: (\d+).*$/, '$1 $2'));
  const summary = [...new Set(statuses)].map((one) => `${statuses.filter((status) => status === one).length} × ${one}`);
  say(
    `kills: ${phase.requests} requests, without response of the service: ${summary.join(', ') || 'none'}; repeated ${retries} times`,
  );
  check(
    statuses.every((status) => /^(POST|GET) (502|0)$/.test(status)),
    `only 502 during a kill: ${summary}`,
  );
  check(ledger.uncertain.size === 0, `everything was acknowledged in the end, but for ${[...ledger.uncertain]}`);
  mayRetry = false;
  await checkLedger();

  section('AUTH_SECRET replaced without an interruption');
  const [old, fresh] = [settings.AUTH_SECRET, randomBytes(32).toString('hex')];
  const early = await new User(ben.email).signIn();
  beginPhase();
  stop = startWriters();
  const signIns = async (what) => {
    // Through any instance, whichever secret it signs with: the session is valid at both.
    for (let number = 0; number < 6; number += 1) {
      const user = await new User(cem.email).signIn();
      for (let again = 0; again < 4; again += 1) await user.ask('GET', '/users/me');
    }
    say(`${what}: 6 new sign-ins and the older sessions are valid at both instances`);
  };
  for (const [what, changed] of [
    ['1. the new secret is accepted', { AUTH_SECRET_PREVIOUS: fresh }],
    ['2. the new secret signs', { AUTH_SECRET: fresh, AUTH_SECRET_PREVIOUS: old }],
  ]) {
    for (const instance of instances) {
      instance.configure({ ...settings, ...changed });
      await restart(instance, listeners);
      await signIns(`${what} at ${instance.name}`);
    }
  }
  await stop();
  await early.ask('GET', '/users/me');
  reportPhase('replacement');
  check(phase.failed.length === 0, 'no request failed');
  const late = await new User(ben.email).signIn();
  [ada, cem] = await Promise.all([ada, cem].map((user) => user.signIn()));
  for (const instance of instances) {
    instance.configure({ ...settings, AUTH_SECRET: fresh });
    await restart(instance, []);
  }
  check((await early.send('GET', '/users/me')).status === 401, 'a session of the former secret has ended');
  check((await late.send('GET', '/users/me')).status === 200, 'a session of the new secret is valid');
  say('3. without the former secret: sessions of the new secret are valid, those of the former one are not');
  await checkLedger();

  section('doctor');
  const doctor = JSON.parse(a.command('doctor', '--json'));
  say(`doctor at a: ${doctor.checks.length} checks, ${doctor.faults} faults`);
  listeners.forEach((listener) => listener.socket.disconnect());
  for (const instance of instances) {
    const { code } = await instance.stop('SIGTERM');
    check(code === 0, `${instance.name} ends with code 0`);
    const panics = readFileSync(instance.log, 'utf8')
      .split('\n')
      .filter((line) => /panicked|"level":"ERROR"/.test(line));
    check(panics.length === 0, `${instance.name}: ${panics.slice(0, 3).join('\n')}`);
  }
  const nginx = readFileSync(`${PLAY_LOG}/error.log`, 'utf8').split('\n').filter(Boolean);
  const kinds = nginx.map((line) => /: \*\d+ (.*?)(?: while|,|$)/.exec(line)?.[1] ?? line.slice(0, 80));
  say(
    `error log of nginx: ${[...new Set(kinds)].map((kind) => `${kinds.filter((one) => one === kind).length} × ${kind}`).join('; ') || 'empty'}`,
  );
  section('played: every check held');
}

try {
  await play();
  process.exit(0);
} catch (error) {
  console.error(error.message, error.stdout ?? '');
  reportPhase('this phase');
  for (const instance of instances) instance.child?.kill('SIGKILL');
  process.exit(1);
}
