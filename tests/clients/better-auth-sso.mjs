// The official sso client against a certified OpenID Connect provider (panva/node-oidc-provider): the whole sign-in with
// PKCE, a provider that rotates its keys, sign-out at the provider, and tokens that the service must reject. The cases
// are those of the relying-party plans of the OpenID Foundation that a script can play.
import { createServer } from 'node:http';
import { ssoClient } from '@better-auth/sso/client';
import { createAuthClient } from 'better-auth/client';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { Api, assert, assertEqual, readWorld, runSteps } from './api.mjs';
import { dataOf, expectError, storedSession } from './better-auth-checks.mjs';
import { CookieJar, User } from './session.mjs';

const world = readWorld();
const SECRET = 'a client secret of the school';
const admin = new User(world, 'the administrator');
const http = createServer((request, response) => handler(request, response));
let handler;
let issuer;
let registered;
let key;
/** Changes the token response, or the user data, of the provider; undefined for an honest one. */
let lie;

/** A key that signs tokens. */
async function newKey(kid) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
}

/** Starts the provider with this key, in place of the former one. */
function serve(jwk) {
  key = jwk;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'groupwork',
        client_secret: SECRET,
        redirect_uris: [registered.redirectUri],
        post_logout_redirect_uris: [`${world.frontendOrigin}/login`],
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['only for tests'] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, name: 'Ada', email: 'ada@provider.example', email_verified: true }),
    }),
  });
  provider.use(async (context, next) => {
    await next();
    const route = context.oidc?.route;
    if (lie?.[route]) context.body = await lie[route](context.body);
  });
  handler = provider.callback();
}

/** The claims of a token that the provider issued. */
const claimsOf = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString('utf8'));

/** Replaces the ID token by one with these claims, signed with the key of the provider unless another is given. */
const token =
  (change, jwk = undefined, header = {}) =>
  async (body) => {
    const claims = { ...claimsOf(body.id_token), ...change };
    const signer = jwk ?? key;
    const signed = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: signer.kid, ...header });
    return { ...body, id_token: await signed.sign(signer) };
  };

/** Signs in at the pages of the provider, and returns the address to which it sends the browser. */
async function atProvider(url, login, jar = new CookieJar()) {
  let [address, init] = [url, {}];
  for (let step = 0; step < 12; step += 1) {
    if (!address.startsWith(issuer)) return address;
    const response = await fetch(address, { ...init, redirect: 'manual', headers: { cookie: jar.header, ...init.headers } });
    jar.store(response);
    const location = response.headers.get('location');
    if (location) {
      [address, init] = [new URL(location, address).href, {}];
      continue;
    }
    const page = await response.text();
    assert(response.status === 200, `the provider: ${response.status} ${page}`);
    const action = /action="([^"]+)"/.exec(page)?.[1];
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    assert(action && prompt, `the provider shows no form: ${page}`);
    const body = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login, password: 'x' } : {}) });
    address = new URL(action, address).href;
    init = { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  }
  throw new Error('the provider does not return');
}

/** A browser with the official client and its plugin. */
function visitor(label) {
  const user = new User(world, label);
  user.sso = createAuthClient({
    baseURL: user.baseUrl,
    plugins: [ssoClient()],
    fetchOptions: { customFetchImpl: user.fetch },
  });
  return user;
}

async function begin(user, choice = { providerId: registered.id }) {
  const pages = { callbackURL: '/today', errorCallbackURL: '/login' };
  const started = dataOf(await user.sso.signIn.sso({ ...choice, ...pages }), 'sign-in/sso');
  assertEqual(started.redirect, true, 'the client follows the address');
  return new URL(started.url);
}

/** Brings the response of the provider to the service. Returns the page to which it sends the browser. */
async function callBack(user, address) {
  assert(address.startsWith(world.frontendOrigin), `the provider leads to ${address}`);
  const response = await user.fetch(address.replace(world.frontendOrigin, user.baseUrl), { redirect: 'manual' });
  assertEqual(response.status, 302, 'the callback');
  return new URL(response.headers.get('location'));
}

async function signIn(user, login = 'ada-at-school', choice = undefined) {
  return callBack(user, await atProvider((await begin(user, choice)).href, login));
}

async function expectRejected(reason, label) {
  const user = visitor('an attacker');
  const page = await signIn(user);
  const seen = [page.pathname, page.searchParams.get('error'), page.searchParams.get('error_description')];
  assertEqual(seen, ['/login', 'invalid_provider', reason], label);
  assertEqual(await storedSession(user), null, `${label}: no session`);
}

async function setUp() {
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${http.address().port}`;
  await admin.signIn(world.people.admin);
  await admin.selectOrganization();
  const provider = { name: 'School', preset: 'OTHER', issuer, clientId: 'groupwork', clientSecret: SECRET };
  // The claim is in no ID token, so the service asks for the user data.
  Object.assign(provider, { linking: 'EXTERNAL_ID', externalIdClaim: 'employee' });
  registered = (await admin.api.post('/admin/sign-on', provider)).expect(201).body;
  serve(await newKey('first'));
  const found = (await admin.api.get('/users?limit=100')).expect(200).body.data;
  const teacher = found.find(({ email }) => email === world.people.teacher.email);
  const link = { userId: teacher.id, subject: 'ada-at-school' };
  (await admin.api.post(`/admin/sign-on/${registered.id}/identities`, link)).expect(201);
  (await admin.api.post(`/admin/sign-on/${registered.id}/test`, {})).expect(200);
}

async function signsIn() {
  const user = visitor('the teacher');
  const url = await begin(user);
  const parameters = Object.fromEntries(url.searchParams);
  assertEqual(
    [parameters.response_type, parameters.code_challenge_method, parameters.client_id],
    ['code', 'S256', 'groupwork'],
    'the request',
  );
  assert(parameters.state && parameters.nonce && parameters.code_challenge, 'state, nonce and challenge');
  const page = await callBack(user, await atProvider(url.href, 'ada-at-school'));
  assertEqual([page.pathname, page.search], ['/today', ''], 'the page');
  const { user: found } = dataOf(await user.sso.getSession(), 'get-session');
  assertEqual(found.email, world.people.teacher.email, 'the account of the identity, not of the address');
}

async function choosesProvider() {
  const organization = (await admin.api.get('/users/me')).expect(200).body.organization;
  const page = await signIn(visitor('the teacher'), 'ada-at-school', { organizationSlug: organization.slug });
  assertEqual(page.pathname, '/today', 'found by the school');
  const stranger = visitor('a stranger');
  const unknown = await stranger.sso.signIn.sso({ providerId: 'unknown', callbackURL: '/today' });
  expectError(unknown, 404, 'NOT_FOUND', 'an unknown provider');
  const foreign = await stranger.sso.signIn.sso({ providerId: registered.id, callbackURL: 'https://evil.example' });
  expectError(foreign, 403, 'INVALID_CALLBACK_URL', 'a foreign page');
}

async function rejectsStrangers() {
  const page = await signIn(visitor('a stranger'), 'nobody-here');
  assertEqual([page.pathname, page.searchParams.get('error')], ['/login', 'account_not_linked'], 'an unknown identity');
}

async function rejectsTokens() {
  const now = Math.floor(Date.now() / 1000);
  const other = await newKey('first');
  const cases = [
    ['a wrong nonce', 'wrong_nonce', { token: token({ nonce: 'another nonce' }) }],
    ['no nonce', 'wrong_nonce', { token: token({ nonce: undefined }) }],
    ['another audience', 'wrong_audience', { token: token({ aud: 'another client' }) }],
    ['another issuer', 'wrong_issuer', { token: token({ iss: 'https://evil.example' }) }],
    ['an expired token', 'wrong_time', { token: token({ iat: now - 7200, exp: now - 3600 }) }],
    ['no subject', 'no_subject', { token: token({ sub: undefined }) }],
    ['the key of somebody else', 'invalid_signature', { token: token({}, other) }],
    ['an unsigned token', 'algorithm_not_allowed', { token: unsigned }],
    ['user data of somebody else', 'subject_mismatch', { userinfo: (body) => ({ ...body, sub: 'somebody-else' }) }],
  ];
  for (const [label, reason, next] of cases) {
    lie = next;
    await expectRejected(reason, label);
  }
  lie = undefined;
  assertEqual((await signIn(visitor('the teacher'))).pathname, '/today', 'the honest provider');
}

const unsigned = (body) => {
  const [, claims] = body.id_token.split('.');
  const header = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
  return { ...body, id_token: `${header}.${claims}.` };
};

async function rejectsResponses() {
  const user = visitor('the teacher');
  const address = await atProvider((await begin(user)).href, 'ada-at-school');
  const changed = (change) => {
    const url = new URL(address);
    change(url.searchParams);
    return url.href;
  };
  const errorOf = async (someone, url) => (await callBack(someone, url)).searchParams.get('error');
  const other = visitor('somebody else');
  assertEqual(await errorOf(other, address), 'invalid_state', 'the response in another browser');
  assertEqual(await errorOf(user, changed((found) => found.set('state', 'x'))), 'invalid_state', 'another state');
  assertEqual(await errorOf(user, changed((found) => found.set('iss', 'https://evil.example'))), 'invalid_provider', 'mix-up');
  assertEqual(await errorOf(user, address), 'invalid_state', 'the state was used up');
}

async function rotatesKeys() {
  serve(await newKey('second'));
  const users = Array.from({ length: 8 }, (_, index) => visitor(`user ${index}`));
  const pages = await Promise.all(users.map((user) => signIn(user)));
  assertEqual(new Set(pages.map(({ pathname }) => pathname)), new Set(['/today']), 'nobody is turned away');
}

async function signsOut() {
  const user = visitor('the teacher');
  const jar = new CookieJar();
  await callBack(user, await atProvider((await begin(user)).href, 'ada-at-school', jar));
  const { url } = dataOf(await user.sso.signOut(), 'sign-out');
  assert(url.startsWith(`${issuer}/session/end`), `the provider ends its session, too: ${url}`);
  const response = await fetch(url, { redirect: 'manual', headers: { cookie: jar.header } });
  assertEqual(response.status, 200, `the provider accepts the request: ${await response.text()}`);
  assertEqual(await storedSession(user), null, 'no session');
}

try {
  await runSteps([
    ['a provider is added and tested', setUp],
    ['the official client signs in with code, PKCE and nonce', signsIn],
    ['the school names its provider', choosesProvider],
    ['an identity without an account opens nothing', rejectsStrangers],
    ['tokens of a provider that lies are rejected', rejectsTokens],
    ['responses are bound to browser, state and issuer', rejectsResponses],
    ['a provider that rotates its key costs nobody a sign-in', rotatesKeys],
    ['a sign-out reaches the provider', signsOut],
  ]);
} finally {
  http.close();
  http.closeAllConnections();
}
