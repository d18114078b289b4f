// The official sso client against an OpenID Connect provider behind a fault proxy: sign-in, key rotation, sign-out, tokens and
// responses that must be rejected. Steps with the name of a module play that module of the relying-party plans of the
// OpenID Foundation (docs/single-sign-on.md#conformance). The second argument is the make of the provider. With the third
// argument `form_post`, its pages send the responses as forms; the service then has to be one with TLS.
import { ssoClient } from '@better-auth/sso/client';
import { createAuthClient } from 'better-auth/client';
import { SignJWT } from 'jose';
import { Api, assert, assertEqual, readWorld, runSteps } from './api.mjs';
import { dataOf, expectError, storedSession } from './better-auth-checks.mjs';
import { claimsOf, newKey, publicKey } from './openid-proxy.mjs';
import { MAKES } from './openid-providers.mjs';
import { CookieJar, User } from './session.mjs';

const responseMode = process.argv[4];
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const world = readWorld();
const admin = new User(world, 'the administrator');
const provider = await MAKES[process.argv[3] ?? 'node-oidc-provider'].start();
const { proxy } = provider;
const { issuer } = proxy;
const SECRET = provider.secret;
let registered;
let teacher;

/** Adds the provider to the school in place of the former one, so that nothing of it is cached, and links the teacher. */
async function register() {
  if (registered) (await admin.api.delete(`/admin/sign-on/${registered.id}`)).expect(200);
  const settings = { name: 'School', preset: 'OTHER', issuer, clientId: 'groupwork', clientSecret: SECRET };
  // The claim is in no ID token, so the service asks for the user data.
  Object.assign(settings, { linking: 'EXTERNAL_ID', externalIdClaim: 'employee' });
  registered = (await admin.api.post('/admin/sign-on', settings)).expect(201).body;
  await provider.register({
    client_id: 'groupwork',
    client_secret: SECRET,
    redirect_uris: [registered.redirectUri],
    post_logout_redirect_uris: [`${world.frontendOrigin}/login`],
    backchannel_logout_uri: registered.backchannelLogoutUri.replace(world.frontendOrigin, admin.baseUrl),
  });
  const link = { userId: teacher.id, subject: 'ada-at-school' };
  (await admin.api.post(`/admin/sign-on/${registered.id}/identities`, link)).expect(201);
}

/**
 * Submits the forms of the pages of the provider, and returns the address to which it sends the browser, or the form that
 * its page sends there.
 */
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
    if (!action) return address;
    const hidden = page.matchAll(/<input[^>]*name="(\w+)"[^>]*value="([^"]*)"/g);
    const fields = Object.fromEntries([...hidden].map(([, name, value]) => [name, value]));
    if (fields.prompt === 'login') Object.assign(fields, { login, password: 'x' });
    address = new URL(action, address).href;
    if (!address.startsWith(issuer)) return { action: address, fields };
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    init = { method: 'POST', body: new URLSearchParams({ ...fields, logout: 'yes' }), headers };
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
  const url = new URL(started.url);
  if (responseMode) url.searchParams.set('response_mode', responseMode);
  return url;
}

/** Brings the response of the provider to the service. Returns the page to which it sends the browser. */
async function callBack(user, received) {
  const { action, fields } = received.fields ? received : { action: received };
  assert(action.startsWith(world.frontendOrigin), `the provider leads to ${action}`);
  assertEqual(Boolean(fields), responseMode === 'form_post', 'the response is a form');
  const address = action.replace(world.frontendOrigin, user.baseUrl);
  const response = fields
    ? await user.submitFrom(issuer, address, fields)
    : await user.fetch(address, { redirect: 'manual' });
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
  await admin.signIn(world.people.admin);
  await admin.selectOrganization();
  const found = (await admin.api.get('/users?limit=100')).expect(200).body.data;
  teacher = found.find(({ email }) => email === world.people.teacher.email);
  await register();
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

/** The honest provider, or one with these faults, signs the teacher in. */
async function accepted(faults = {}) {
  proxy.faults = faults;
  const user = visitor('the teacher');
  const page = await signIn(user);
  proxy.faults = {};
  assertEqual([page.pathname, page.search], ['/today', ''], 'the page');
  assert(await storedSession(user), 'a session');
}

/** A step that requires that a provider with these faults is rejected for this reason, and the honest one is not. */
const rejects = (reason, faults) => async () => {
  proxy.faults = faults;
  await expectRejected(reason, 'the response');
  await accepted();
};

const seconds = () => Math.floor(Date.now() / 1000);

/** Signs in with tokens without a key id, which one of these keys signed. */
async function withoutKeyIds(keys) {
  await register();
  const [key] = keys;
  const published = keys.map((one) => ({ ...publicKey(one), kid: undefined }));
  await accepted({ keys: () => ({ keys: published }), ...proxy.idToken({}, { key, kid: undefined }) });
  await register();
}

async function readsUserData() {
  const user = visitor('a user with a number');
  const { scope } = Object.fromEntries((await begin(user)).searchParams);
  assertEqual(scope, 'openid email profile', 'the scopes');
  (await admin.api.patch(`/users/${teacher.id}`, { externalId: 'number-5' })).expect(200);
  (await admin.api.delete(`/admin/sign-on/${registered.id}/identities/${(await identity()).id}`)).expect(200);
  proxy.faults = { userinfo: (body) => ({ ...body, employee: 'number-5' }) };
  const page = await signIn(user, 'number-five');
  proxy.faults = {};
  assertEqual(page.pathname, '/today', 'linked by a claim of the user data');
  await register();
}

const identity = async () =>
  (await admin.api.get(`/admin/sign-on/${registered.id}/identities`)).expect(200).body.data[0];

async function authenticatesWithHeader() {
  await accepted();
  const expected = ['groupwork', SECRET].map((text) => new URLSearchParams({ text }).toString().slice(5)).join(':');
  assertEqual(proxy.authorization, `Basic ${Buffer.from(expected).toString('base64')}`, 'the header of the request');
}

async function readsConfiguration() {
  await register();
  const before = { ...proxy.counts };
  await accepted();
  await accepted();
  const read = (kind) => (proxy.counts[kind] ?? 0) - (before[kind] ?? 0);
  assertEqual([read('configuration'), read('keys'), read('token')], [1, 1, 2], 'the configuration is read once');
  const url = await begin(visitor('the teacher'));
  const configured = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
  assertEqual(url.origin + url.pathname, configured.authorization_endpoint, 'the configured endpoint');
}

async function rejectsOtherIssuer() {
  await register();
  proxy.faults = { configuration: (body) => ({ ...body, issuer: 'https://evil.example' }) };
  const body = { providerId: registered.id, callbackURL: '/today' };
  const api = new Api(`${admin.baseUrl}/api`, 'a visitor');
  const origin = { origin: world.frontendOrigin };
  const response = (await api.call('POST', '/auth/sign-in/sso', body, origin)).expect(409, 'SIGN_ON_FAILED');
  assertEqual(response.body.details[0].code, 'issuer_mismatch', 'the reason', response);
  proxy.faults = {};
  await register();
}

async function rejectsResponses() {
  const user = visitor('the teacher');
  const address = await atProvider((await begin(user)).href, 'ada-at-school');
  const changed = (change) => {
    const url = address.fields ? undefined : new URL(address);
    const parameters = url?.searchParams ?? new URLSearchParams(address.fields);
    change(parameters);
    return url?.href ?? { ...address, fields: Object.fromEntries(parameters) };
  };
  const errorOf = async (someone, url) => (await callBack(someone, url)).searchParams.get('error');
  const other = visitor('somebody else');
  assertEqual(await errorOf(other, address), 'invalid_state', 'the response in another browser');
  assertEqual(await errorOf(user, changed((found) => found.set('state', 'x'))), 'invalid_state', 'another state');
  assertEqual(await errorOf(user, changed((found) => found.set('iss', 'https://evil.example'))), 'invalid_provider', 'mix-up');
  assertEqual(await errorOf(user, address), 'invalid_state', 'the state was used up');
}

/** The form is accepted from the page of the provider; state and cookie bind it, and nothing else is accepted from there. */
async function acceptsForms() {
  const user = visitor('the teacher');
  const form = await atProvider((await begin(user)).href, 'ada-at-school');
  const { attributes } = user.jar.cookies.get('__Host-groupwork.sign_on');
  for (const expected of ['Secure', 'HttpOnly', 'SameSite=None', 'Path=/'])
    assert(attributes.includes(expected), `the cookie of the sign-in is ${attributes}`);
  const copy = visitor('a browser without the cookie');
  assertEqual((await callBack(copy, form)).searchParams.get('error'), 'invalid_state', 'a form without the cookie');
  assertEqual((await callBack(user, form)).pathname, '/today', 'the form with the cookie');
  const session = [...user.jar.cookies].find(([name]) => name.endsWith('session_token'));
  assert(session[1].attributes.includes('SameSite=Lax'), `the cookie of the session is ${session[1].attributes}`);
  const headers = { origin: issuer, cookie: user.jar.header, 'content-type': 'application/json' };
  const signOut = await fetch(`${user.baseUrl}/api/auth/sign-out`, { method: 'POST', headers, body: '{}' });
  assertEqual([signOut.status, (await signOut.json()).code], [403, 'INVALID_ORIGIN'], 'another request of that page');
  assert(await storedSession(user), 'the session continues');
}

async function rotatesKeys() {
  await accepted();
  await provider.rotate();
  await accepted();
}

/**
 * Users sign in at once while the provider replaces its key, and again within a minute. They are few: the service waits 15
 * seconds for a provider, and this one shares the machine with all of them.
 */
async function rotatesKeysOfSeveral() {
  await register();
  await accepted();
  const before = proxy.counts.keys;
  for (let rotation = 1; rotation <= 2; rotation += 1) {
    const users = Array.from({ length: 6 }, (_, index) => visitor(`user ${index}`));
    const responses = await Promise.all(
      users.map(async (user) => atProvider((await begin(user)).href, 'ada-at-school')),
    );
    await provider.rotate();
    const pages = await Promise.all(users.map((user, index) => callBack(user, responses[index])));
    assertEqual([...new Set(pages.map(({ href }) => href))], [`${world.frontendOrigin}/today`], 'nobody is rejected');
    assertEqual(proxy.counts.keys - before, rotation, 'the keys are read once after each rotation');
  }
}

async function signsOut() {
  const user = visitor('the teacher');
  const jar = new CookieJar();
  await callBack(user, await atProvider((await begin(user)).href, 'ada-at-school', jar));
  const { url } = dataOf(await user.sso.signOut(), 'sign-out');
  assert(url.startsWith(proxy.endSession), `the provider ends its session, too: ${url}`);
  assertEqual(await storedSession(user), null, 'no session');
  const page = await atProvider(url, 'ada-at-school', jar);
  assertEqual(page, `${world.frontendOrigin}/login`, 'the provider returns the browser, without a state');
}

/** A sign-out at the pages of the provider ends the session here. */
async function isSignedOutByProvider() {
  const user = visitor('the teacher');
  const jar = new CookieJar();
  await callBack(user, await atProvider((await begin(user)).href, 'ada-at-school', jar));
  await atProvider(proxy.endSession, 'ada-at-school', jar);
  assertEqual(await storedSession(user), null, 'the session has ended');
}

/** Sends a logout token with these claims, signed by the proxy. Returns the status of the response. */
async function logoutToken(change, header = { alg: 'RS256' }, key = proxy.key) {
  const claims = { iss: issuer, aud: 'groupwork', sub: 'ada-at-school', jti: crypto.randomUUID(), iat: seconds() };
  Object.assign(claims, { exp: seconds() + 120, events: { [LOGOUT_EVENT]: {} }, ...change });
  const encode = (object) => Buffer.from(JSON.stringify(object)).toString('base64url');
  const token =
    header.alg === 'none'
      ? `${encode(header)}.${encode(claims)}.`
      : await new SignJWT(claims).setProtectedHeader({ kid: proxy.key.kid, ...header }).sign(key);
  const path = `/api/auth/sso/backchannel-logout/${registered.id}`;
  const body = new URLSearchParams({ logout_token: token });
  return (await fetch(admin.baseUrl + path, { method: 'POST', body })).status;
}

/** A step that requires that a logout token is rejected and ends no session. */
const rejectsLogout =
  (change, ...signature) =>
  async () => {
    const user = visitor('the teacher');
    await signIn(user);
    assertEqual(await logoutToken(change, ...signature), 400, 'the logout token');
    assert(await storedSession(user), 'the session continues');
    assertEqual(await logoutToken({}), 200, 'a valid logout token');
    assertEqual(await storedSession(user), null, 'it ends the session');
  };

try {
  const other = await newKey('proxy');
  const secret = new TextEncoder().encode(SECRET.padEnd(32));
  await runSteps([
    ['a provider is added and tested', setUp],
    ['oidcc-client-test: code, PKCE and nonce with the official client', signsIn],
    ['the school names its provider', choosesProvider],
    ['an identity without an account opens nothing', rejectsStrangers],
    ['oidcc-client-test-invalid-iss', rejects('wrong_issuer', proxy.idToken({ iss: 'https://evil.example' }))],
    ['oidcc-client-test-missing-sub', rejects('no_subject', proxy.idToken({ sub: undefined }))],
    ['oidcc-client-test-invalid-aud', rejects('wrong_audience', proxy.idToken({ aud: 'another client' }))],
    ['oidcc-client-test-missing-aud', rejects('wrong_audience', proxy.idToken({ aud: undefined }))],
    ['oidcc-client-test-missing-iat', rejects('wrong_time', proxy.idToken({ iat: undefined }))],
    ['an expired token', rejects('wrong_time', proxy.idToken({ iat: seconds() - 7200, exp: seconds() - 3600 }))],
    ['oidcc-client-test-kid-absent-single-jwks', () => withoutKeyIds([proxy.key])],
    ['oidcc-client-test-kid-absent-multiple-jwks', () => withoutKeyIds([proxy.key, other])],
    ['oidcc-client-test-idtoken-sig-rs256', () => accepted(proxy.idToken({}))],
    ['oidcc-client-test-idtoken-sig-none', rejects('algorithm_not_allowed', proxy.unsigned)],
    ['oidcc-client-test-invalid-sig-rs256', rejects('invalid_signature', proxy.brokenSignature)],
    ['the key of somebody else', rejects('invalid_signature', proxy.idToken({}, { key: other }))],
    [
      'oidcc-client-test-userinfo-invalid-sub',
      rejects('subject_mismatch', { userinfo: (body) => ({ ...body, sub: 'somebody-else' }) }),
    ],
    ['oidcc-client-test-nonce-invalid', rejects('wrong_nonce', proxy.idToken({ nonce: 'another nonce' }))],
    ['a token without a nonce', rejects('wrong_nonce', proxy.idToken({ nonce: undefined }))],
    ['oidcc-client-test-scope-userinfo-claims', readsUserData],
    ['oidcc-client-test-client-secret-basic', authenticatesWithHeader],
    ['oidcc-client-test-discovery-openid-config, discovery-jwks-uri-keys', readsConfiguration],
    ['oidcc-client-test-discovery-issuer-mismatch', rejectsOtherIssuer],
    ['responses are bound to browser, state and issuer', rejectsResponses],
    ...(responseMode ? [['forms of the pages of the provider are accepted', acceptsForms]] : []),
    ['oidcc-client-test-signing-key-rotation', rotatesKeys],
    ['oidcc-client-test-signing-key-rotation-just-before-signing: several sign in at once', rotatesKeysOfSeveral],
    ['oidcc-client-test-rp-init-logout', signsOut],
    ['oidcc-client-test-rp-backchannel-rpinitlogout', isSignedOutByProvider],
    ['oidcc-client-test-rp-backchannel-rpinitlogout-alg-none', rejectsLogout({}, { alg: 'none' })],
    ['oidcc-client-test-rp-backchannel-rpinitlogout-no-event', rejectsLogout({ events: undefined })],
    ['oidcc-client-test-rp-backchannel-rpinitlogout-with-nonce', rejectsLogout({ nonce: 'n' })],
    ['oidcc-client-test-rp-backchannel-rpinitlogout-wrong-alg', rejectsLogout({}, { alg: 'HS256' }, secret)],
    ['oidcc-client-test-rp-backchannel-rpinitlogout-wrong-aud', rejectsLogout({ aud: 'another client' })],
    ['oidcc-client-test-rp-backchannel-rpinitlogout-wrong-event', rejectsLogout({ events: { 'urn:other': {} } })],
    ['oidcc-client-test-rp-backchannel-rpinitlogout-wrong-iss', rejectsLogout({ iss: 'https://evil.example' })],
  ]);
} finally {
  provider.close();
}
