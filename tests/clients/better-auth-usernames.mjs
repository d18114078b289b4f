// The official plugin for user names (`usernameClient`): sign-in with a user name, the check of names, and its errors.
import { createAuthClient } from 'better-auth/client';
import { usernameClient } from 'better-auth/client/plugins';
import { assertEqual, runSteps, readWorld } from './api.mjs';
import { dataOf, expectError } from './better-auth-checks.mjs';
import { User } from './session.mjs';

const world = readWorld();
const admin = new User(world, 'the administrator');
const pupil = new User(world, 'the pupil without an address');
const visitor = new User(world, 'a visitor');
const withNames = (user) =>
  createAuthClient({
    baseURL: user.baseUrl,
    plugins: [usernameClient()],
    fetchOptions: { customFetchImpl: user.fetch },
  });
const wrong = 'INVALID_USERNAME_OR_PASSWORD';
let made;

async function create() {
  await admin.signIn(world.people.admin);
  await admin.selectOrganization();
  made = (await admin.api.post('/users', { name: 'Mia Näm', role: 'STUDENT' })).expect(201).body;
  assertEqual([made.username, made.email], ['mia.naem', null], 'the user name of a person without an address');
}

async function signIn() {
  const school = (await admin.auth.organization.list()).data[0];
  const name = `${made.username}@${school.slug}`;
  const auth = withNames(pupil);
  const signed = dataOf(
    await auth.signIn.username({
      username: name.toUpperCase(),
      password: made.temporaryPassword,
    }),
    'sign-in',
  );
  assertEqual([signed.user.id, signed.user.username], [made.id, name], 'the user');
  const { user } = dataOf(await auth.getSession(), 'get-session');
  assertEqual([user.username, user.displayUsername], [name, made.username], 'the names in the session');
  expectError(
    await auth.updateUser({ username: 'other', image: null }),
    400,
    'USERNAME_IS_IMMUTABLE',
    'another user name',
  );
}

async function errors() {
  const { signIn } = withNames(visitor);
  const guess = (username, password = 'a wrong password') => signIn.username({ username, password });
  expectError(await guess('no.body@nowhere'), 401, wrong, 'an unknown name');
  expectError(await guess(''), 401, wrong, 'an empty name');
  expectError(await guess('x'), 422, 'USERNAME_TOO_SHORT', 'a short name');
  expectError(await guess('x'.repeat(200)), 422, 'USERNAME_TOO_LONG', 'a long name');
  expectError(await guess('no body'), 422, 'INVALID_USERNAME', 'a space in the name');
}

async function availability() {
  const ask = (user, username) => withNames(user).isUsernameAvailable({ username });
  assertEqual(dataOf(await ask(admin, made.username), 'a used name'), { available: false }, 'a used name');
  assertEqual(dataOf(await ask(admin, 'mia.naem2'), 'a free name'), { available: true }, 'a free name');
  expectError(await ask(admin, 'no body'), 422, 'INVALID_USERNAME', 'an invalid name');
  expectError(await ask(pupil, made.username), 403, 'FORBIDDEN', 'the check of a student');
  expectError(await ask(visitor, made.username), 401, 'UNAUTHORIZED', 'the check of a visitor');
}

await runSteps([
  ['an account without an address is created', create],
  ['its user signs in with the user name', signIn],
  ['other names are rejected as by the plugin', errors],
  ['administrators check names', availability],
]);
