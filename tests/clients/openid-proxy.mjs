// A reverse proxy in front of an OpenID Connect provider that injects faults: it changes the configuration, the keys, the
// tokens and the user data of an honest provider. It publishes a key of its own in addition, with which it signs changed
// ID tokens.
import { createServer, request as send } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** A private key that signs with RS256. */
export async function newKey(kid) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), ...(kid ? { kid } : {}), alg: 'RS256', use: 'sig' };
}

/** The public part of a key. */
export const publicKey = ({ kty, n, e, kid, alg, use }) => ({ kty, n, e, kid, alg, use });

/** The claims of a token. */
export const claimsOf = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString('utf8'));

const encode = (object) => Buffer.from(JSON.stringify(object)).toString('base64url');

export class FaultProxy {
  /** Changes of responses, by the kind of the response: configuration, keys, token or userinfo. */
  faults = {};
  /** The number of responses, by kind. */
  counts = {};
  /** The authorization header of the last token request. */
  authorization;
  #kinds = new Map([['/.well-known/openid-configuration', 'configuration']]);

  static async start() {
    const proxy = new FaultProxy();
    proxy.key = await newKey('proxy');
    proxy.server = createServer((request, response) => {
      proxy.#forward(request, response).catch((error) => response.writeHead(502).end(String(error)));
    });
    // Without this, it would close unused connections after 5 seconds, perhaps while a browser of the test uses one again.
    proxy.server.keepAliveTimeout = 0;
    await new Promise((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    proxy.issuer = `http://127.0.0.1:${proxy.server.address().port}`;
    return proxy;
  }

  /** Sets the port of the provider, and reads the paths of its endpoints. */
  async connect(port) {
    this.port = port;
    const configuration = await (await fetch(`${this.issuer}/.well-known/openid-configuration`)).json();
    for (const [field, kind] of [
      ['jwks_uri', 'keys'],
      ['token_endpoint', 'token'],
      ['userinfo_endpoint', 'userinfo'],
    ])
      this.#kinds.set(new URL(configuration[field]).pathname, kind);
    this.endSession = configuration.end_session_endpoint;
  }

  close() {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** A fault that replaces an ID token by one with these claims. Signed with the key of the proxy unless another is given. */
  idToken = (change, { key = this.key, ...header } = {}) => ({
    token: async (body) => {
      const claims = { ...claimsOf(body.id_token), ...change };
      const signed = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header });
      return { ...body, id_token: await signed.sign(key) };
    },
  });

  /** A fault that removes the signature of an ID token. */
  unsigned = {
    token: (body) => ({ ...body, id_token: `${encode({ alg: 'none' })}.${body.id_token.split('.')[1]}.` }),
  };

  /** A fault that changes the signature of an ID token. */
  brokenSignature = {
    token: (body) => {
      const [header, claims, signature] = body.id_token.split('.');
      const bytes = Buffer.from(signature, 'base64url');
      bytes[0] ^= 1;
      return { ...body, id_token: `${header}.${claims}.${bytes.toString('base64url')}` };
    },
  };

  async #forward(request, response) {
    const received = await new Promise((resolve, reject) => {
      const { method, headers, url } = request;
      const upstream = send({ host: '127.0.0.1', port: this.port, method, path: url, headers, agent: false }, resolve);
      upstream.on('error', reject);
      request.pipe(upstream);
    });
    const chunks = [];
    for await (const chunk of received) chunks.push(chunk);
    let body = Buffer.concat(chunks);
    const kind = this.#kinds.get(new URL(request.url, this.issuer).pathname);
    if (kind) {
      if (kind === 'token') this.authorization = request.headers.authorization;
      this.counts[kind] = (this.counts[kind] ?? 0) + 1;
      if (received.statusCode === 200) body = await this.#change(kind, body);
    }
    const headers = { ...received.headers, 'content-length': body.length };
    delete headers['transfer-encoding'];
    response.writeHead(received.statusCode, headers).end(body);
  }

  async #change(kind, bytes) {
    let body = JSON.parse(bytes.toString('utf8'));
    if (kind === 'keys') body = { keys: [...body.keys, publicKey(this.key)] };
    const fault = this.faults[kind];
    return Buffer.from(JSON.stringify(fault ? await fault(body) : body));
  }
}
