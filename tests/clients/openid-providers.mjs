// OpenID Connect providers of different makes, each behind a fault proxy: node-oidc-provider in this process, and
// idpyoidc as a Python process.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Provider from 'oidc-provider';
import { FaultProxy, newKey } from './openid-proxy.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Returns a class that stores the objects of node-oidc-provider in this map, which outlives a replacement of the keys. */
const storageIn = (stored) =>
  class {
    constructor(model) {
      this.model = model;
    }
    upsert = async (id, payload) => void stored.set(`${this.model}:${id}`, payload);
    find = async (id) => stored.get(`${this.model}:${id}`);
    findByUid = async (uid) =>
      [...stored].find(([key, payload]) => key.startsWith(`${this.model}:`) && payload.uid === uid)?.[1];
    consume = async (id) => void ((await this.find(id)).consumed = Math.floor(Date.now() / 1000));
    destroy = async (id) => void stored.delete(`${this.model}:${id}`);
    async revokeByGrantId(grant) {
      for (const [key, { grantId }] of stored) if (grantId === grant) stored.delete(key);
    }
  };

/** panva/node-oidc-provider. */
class NodeOidcProvider {
  secret = 'a client secret: of the school';
  storage = storageIn(new Map());
  rotations = 0;

  static async start() {
    const made = new NodeOidcProvider();
    made.proxy = await FaultProxy.start();
    made.key = await newKey('first');
    made.http = createServer((request, response) => made.handler(request, response));
    await new Promise((resolve) => made.http.listen(0, '127.0.0.1', resolve));
    await made.register({ client_id: 'none', client_secret: 'none', redirect_uris: ['https://none.example/'] });
    await made.proxy.connect(made.http.address().port);
    return made;
  }

  /** Replaces the client. */
  async register(client) {
    this.client = client;
    this.#serve();
  }

  /** Replaces the key that signs. */
  async rotate() {
    this.key = await newKey(`key-${(this.rotations += 1)}`);
    this.#serve();
  }

  close() {
    this.proxy.close();
    this.http.close();
    this.http.closeAllConnections();
  }

  #serve() {
    const provider = new Provider(this.proxy.issuer, {
      adapter: this.storage,
      clients: [this.client],
      jwks: { keys: [this.key] },
      cookies: { keys: ['only for tests'] },
      pkce: { required: () => true },
      // Without the protection of the library, which sends no requests to this machine, and without its timeout of 2.5
      // seconds, after which a sign-out would not reach the service.
      fetch: (url, { dispatcher: _, signal: __, ...options }) => fetch(url, options),
      features: { backchannelLogout: { enabled: true } },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () => ({ sub: id, name: 'Ada', email: 'ada@provider.example', email_verified: true }),
      }),
    });
    this.handler = provider.callback();
  }
}

/** idpyoidc, with the program tests/idpyoidc/provider.py. */
class Idpyoidc {
  // The library compares the header without decoding it as a form (RFC 6749, section 2.3.1).
  secret = 'client-secret-of-the-school-0123456789';

  static async start() {
    const made = new Idpyoidc();
    made.proxy = await FaultProxy.start();
    const python = `${root}target/idpyoidc/bin/python`;
    const program = `${root}tests/idpyoidc/provider.py`;
    made.process = spawn(python, [program, made.proxy.issuer], { stdio: ['pipe', 'pipe', 'inherit'] });
    made.lines = createInterface({ input: made.process.stdout })[Symbol.asyncIterator]();
    const port = Number(await made.#line());
    await made.proxy.connect(port);
    return made;
  }

  register = (client) => this.#control({ client });
  rotate = () => this.#control({ rotate: true });

  close() {
    this.proxy.close();
    this.process.kill();
  }

  async #control(command) {
    this.process.stdin.write(`${JSON.stringify(command)}\n`);
    await this.#line();
  }

  async #line() {
    const { value, done } = await this.lines.next();
    if (done) throw new Error('the provider has ended');
    return value;
  }
}

export const MAKES = { 'node-oidc-provider': NodeOidcProvider, idpyoidc: Idpyoidc };
