// Every call of the official admin client as a SUPER_ADMIN; other users are rejected.
import { assert, assertEqual, sorted, runSteps, readWorld } from './api.mjs';
import { dataOf, expectError, storedSession } from './better-auth-checks.mjs';
import { User } from './session.mjs';
import { SocketListener } from './socket.mjs';

const world = readWorld();
const root = new User(world, 'the super admin');
const teacher = new User(world, 'the teacher');
const student = new User(world, 'the new student');
const login = { email: `student-${Date.now()}@school.example`, password: 'Zirkel und Kreide' };
const { admin } = root.auth;
let user;

async function createAndRead() {
  await root.signIn(world.people.superAdmin);
  const made = dataOf(await admin.createUser({ ...login, name: 'New Student', role: 'STUDENT' }), 'create-user');
  user = made.user;
  assertEqual([user.email, user.role, user.banned], [login.email, 'STUDENT', false], 'the new account');
  assert(user.createdAt instanceof Date && !JSON.stringify(made).includes('assword'), 'an account without its password');
  expectError(
    await admin.createUser({ ...login, name: 'Again' }),
    400,
    'USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL',
    'the same address again',
  );
  assertEqual(dataOf(await admin.getUser({ query: { id: user.id } }), 'get-user').email, login.email, 'get-user');
  expectError(await admin.getUser({ query: { id: 'nobody' } }), 404, 'USER_NOT_FOUND', 'an unknown id');
  await student.signIn(login);
}

async function list() {
  const page = dataOf(await admin.listUsers({ query: { limit: 2, offset: 1, sortBy: 'name' } }), 'list-users');
  assertEqual([page.users.length, page.limit, page.offset], [2, 2, 1], 'a page');
  assert(page.total >= 8, `the total counts all accounts: ${page.total}`);
  const search = { searchValue: login.email.slice(0, 12), searchField: 'email', searchOperator: 'starts_with' };
  const found = dataOf(await admin.listUsers({ query: search }), 'a search');
  assertEqual(found.users.map(({ id }) => id), [user.id], 'the accounts found');
  const filter = { filterField: 'id', filterOperator: 'in', filterValue: [user.id, root.user.id] };
  const both = dataOf(await admin.listUsers({ query: filter }), 'a filter');
  assertEqual(sorted(both.users.map(({ id }) => id)), sorted([user.id, root.user.id]), 'the filtered accounts');
  expectError(await admin.listUsers({ query: { sortBy: 'password' } }), 400, 'VALIDATION_ERROR', 'a column that is not listed');
}

async function change() {
  const changed = dataOf(await admin.updateUser({ userId: user.id, data: { name: 'Renamed' } }), 'update-user');
  assertEqual([changed.id, changed.name], [user.id, 'Renamed'], 'the changed account');
  expectError(await admin.updateUser({ userId: user.id, data: {} }), 400, 'NO_DATA_TO_UPDATE', 'nothing to change');
  const promoted = dataOf(await admin.setRole({ userId: user.id, role: 'TEACHER' }), 'set-role');
  assertEqual(promoted.user.role, 'TEACHER', 'the role');
  expectError(
    await admin.setRole({ userId: user.id, role: 'janitor' }),
    400,
    'YOU_ARE_NOT_ALLOWED_TO_SET_NON_EXISTENT_VALUE',
    'an unknown role',
  );
  expectError(
    await admin.setRole({ userId: root.user.id, role: 'STUDENT' }),
    403,
    'YOU_ARE_NOT_ALLOWED_TO_CHANGE_USERS_ROLE',
    'the own role',
  );
  assert(!(await storedSession(student)), 'a changed role ends the sessions of the old one');
  await student.signIn(login);
  const may = async (user, permissions) => dataOf(await user.auth.admin.hasPermission({ permissions }), 'has-permission');
  assertEqual((await may(root, { user: ['ban'] })).success, true, 'may ban');
  assertEqual((await may(student, { user: ['ban'] })).success, false, 'may not ban');
}

async function sessions() {
  const sessionsOf = async () => dataOf(await admin.listUserSessions({ userId: user.id }), 'list-user-sessions').sessions;
  const [first] = await sessionsOf();
  assertEqual(first.token, (await storedSession(student)).token, 'the session of the student');
  const success = { success: true };
  assertEqual(dataOf(await admin.revokeUserSession({ sessionToken: first.token }), 'revoke-user-session'), success, 'one');
  assertEqual(dataOf(await student.auth.getSession(), 'get-session'), null, 'a revoked session, despite its cookie');
  await student.signIn(login);
  assertEqual(dataOf(await admin.revokeUserSessions({ userId: user.id }), 'revoke-user-sessions'), success, 'all');
  assertEqual(dataOf(await student.auth.getSession(), 'get-session'), null, 'revoked sessions');
  assertEqual(await sessionsOf(), [], 'no session is left');
  await student.signIn(login);
  const newPassword = 'Lineal und Kreide';
  assertEqual(dataOf(await admin.setUserPassword({ userId: user.id, newPassword }), 'set-user-password'), { status: true }, 'set');
  assertEqual(dataOf(await student.auth.getSession(), 'get-session'), null, 'a new password ends all sessions');
  expectError(await student.auth.signIn.email(login), 401, 'INVALID_EMAIL_OR_PASSWORD', 'the old password');
  login.password = newPassword;
  await student.signIn(login);
}

async function ban() {
  const listener = await SocketListener.open(student);
  const { user: banned } = dataOf(await admin.banUser({ userId: user.id, banReason: 'Loud', banExpiresIn: 3600 }), 'ban-user');
  assertEqual([banned.banned, banned.banReason], [true, 'Loud'], 'the ban');
  assert(banned.banExpires instanceof Date, 'the end of the ban');
  await listener.waitFor('session:revoked');
  await listener.waitFor('disconnect');
  assertEqual(dataOf(await student.auth.getSession(), 'get-session'), null, 'a banned user has no session');
  expectError(await student.auth.signIn.email(login), 403, 'BANNED_USER', 'a sign-in of a banned user');
  expectError(await admin.banUser({ userId: root.user.id }), 400, 'YOU_CANNOT_BAN_YOURSELF', 'the own account');
  assertEqual(dataOf(await admin.unbanUser({ userId: user.id }), 'unban-user').user.banned, false, 'unban-user');
  await student.signIn(login);
}

async function impersonate() {
  const own = (await storedSession(root)).token;
  const there = dataOf(await admin.impersonateUser({ userId: user.id }), 'impersonate-user');
  assertEqual([there.session.impersonatedBy, there.user.id], [root.user.id, user.id], 'actor and user of the impersonation');
  const minutes = (there.session.expiresAt - Date.now()) / 60_000;
  assert(minutes > 58 && minutes <= 60, `it ends in ${minutes} minutes instead of 60`);
  assertEqual(dataOf(await root.auth.getSession(), 'get-session').user.id, user.id, 'the impersonated user');
  expectError(await admin.listUsers({ query: {} }), 403, 'YOU_ARE_NOT_ALLOWED_TO_LIST_USERS', 'as a student');
  const listener = await SocketListener.open(root);
  const back = dataOf(await admin.stopImpersonating(), 'stop-impersonating');
  assertEqual([back.session.token, back.user.id], [own, root.user.id], 'back in the own session');
  await listener.waitFor('session:revoked');
  await listener.waitFor('disconnect');
  dataOf(await admin.listUsers({ query: { limit: 1 } }), 'list-users in the own session');
  assertEqual((await admin.stopImpersonating()).error.status, 400, 'no impersonation');
  expectError(
    await admin.impersonateUser({ userId: root.user.id }),
    403,
    'YOU_CANNOT_IMPERSONATE_ADMINS',
    'a SUPER_ADMIN',
  );
}

async function remove() {
  assertEqual(dataOf(await admin.removeUser({ userId: user.id }), 'remove-user'), { success: true }, 'remove-user');
  expectError(await admin.getUser({ query: { id: user.id } }), 404, 'USER_NOT_FOUND', 'the removed user');
  expectError(await student.auth.signIn.email(login), 401, 'INVALID_EMAIL_OR_PASSWORD', 'a sign-in of the removed user');
  expectError(await admin.removeUser({ userId: root.user.id }), 400, 'YOU_CANNOT_REMOVE_YOURSELF', 'the own account');
  const again = dataOf(await admin.createUser({ ...login, name: 'Another user' }), 'the address is free again');
  dataOf(await admin.removeUser({ userId: again.user.id }), 'remove-user');
}

async function othersRejected() {
  await teacher.signIn(world.people.teacher);
  const theirs = teacher.auth.admin;
  const userId = teacher.user.id;
  const calls = {
    LIST_USERS: theirs.listUsers({ query: {} }),
    GET_USER: theirs.getUser({ query: { id: userId } }),
    CREATE_USERS: theirs.createUser({ email: 'x@school.example', name: 'X', password: 'long-enough-1' }),
    UPDATE_USERS: theirs.updateUser({ userId, data: { name: 'X' } }),
    CHANGE_USERS_ROLE: theirs.setRole({ userId, role: 'SUPER_ADMIN' }),
    BAN_USERS: theirs.banUser({ userId: root.user.id }),
    IMPERSONATE_USERS: theirs.impersonateUser({ userId: root.user.id }),
    LIST_USERS_SESSIONS: theirs.listUserSessions({ userId: root.user.id }),
    REVOKE_USERS_SESSIONS: theirs.revokeUserSessions({ userId: root.user.id }),
    SET_USERS_PASSWORD: theirs.setUserPassword({ userId: root.user.id, newPassword: 'long-enough-1' }),
    DELETE_USERS: theirs.removeUser({ userId: root.user.id }),
  };
  for (const [what, call] of Object.entries(calls)) expectError(await call, 403, `YOU_ARE_NOT_ALLOWED_TO_${what}`, what);
  expectError(await theirs.unbanUser({ userId }), 403, 'YOU_ARE_NOT_ALLOWED_TO_BAN_USERS', 'unban-user');
  expectError(
    await theirs.revokeUserSession({ sessionToken: 'x' }),
    403,
    'YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS',
    'revoke-user-session',
  );
  assert(await storedSession(root), 'the super admin is still signed in');
}

await runSteps([
  ['an account is created and read', createAndRead],
  ['accounts are listed, searched and filtered', list],
  ['profile and role of an account are changed', change],
  ['sessions are listed and revoked, passwords set', sessions],
  ['a ban ends sessions and sockets at once', ban],
  ['an impersonation begins and ends', impersonate],
  ['a removed user no longer exists', remove],
  ['other users cannot administer', othersRejected],
]);
