// Every call of the official admin client as a platform administrator, and that other users may make none of them.
import { must, same, sorted, tell, world } from './api.mjs';
import { ok, refused, stored } from './better-auth-refusals.mjs';
import { Person } from './session.mjs';
import { Ear } from './socket.mjs';

const here = world();
const root = new Person(here, 'the super admin');
const teacher = new Person(here, 'the teacher');
const pupil = new Person(here, 'the new pupil');
const login = { email: `pupil-${Date.now()}@school.example`, password: 'Zirkel und Kreide' };
const { admin } = root.auth;
let user;

async function makeAndRead() {
  await root.signIn(here.people.superAdmin);
  const made = ok(await admin.createUser({ ...login, name: 'New Pupil', role: 'STUDENT' }), 'create-user');
  user = made.user;
  same([user.email, user.role, user.banned], [login.email, 'STUDENT', false], 'the new account');
  must(user.createdAt instanceof Date && !JSON.stringify(made).includes('assword'), 'an account without its password');
  refused(
    await admin.createUser({ ...login, name: 'Again' }),
    400,
    'USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL',
    'the same address again',
  );
  same(ok(await admin.getUser({ query: { id: user.id } }), 'get-user').email, login.email, 'get-user');
  refused(await admin.getUser({ query: { id: 'nobody' } }), 404, 'USER_NOT_FOUND', 'nobody');
  await pupil.signIn(login);
}

async function list() {
  const page = ok(await admin.listUsers({ query: { limit: 2, offset: 1, sortBy: 'name' } }), 'list-users');
  same([page.users.length, page.limit, page.offset], [2, 2, 1], 'a page');
  must(page.total >= 8, `the total counts everybody: ${page.total}`);
  const search = { searchValue: login.email.slice(0, 12), searchField: 'email', searchOperator: 'starts_with' };
  const found = ok(await admin.listUsers({ query: search }), 'a search');
  same(found.users.map(({ id }) => id), [user.id], 'what was searched');
  const filter = { filterField: 'id', filterOperator: 'in', filterValue: [user.id, root.user.id] };
  const both = ok(await admin.listUsers({ query: filter }), 'a filter');
  same(sorted(both.users.map(({ id }) => id)), sorted([user.id, root.user.id]), 'what was filtered');
  refused(await admin.listUsers({ query: { sortBy: 'password' } }), 400, 'VALIDATION_ERROR', 'a column that is not told');
}

async function change() {
  const changed = ok(await admin.updateUser({ userId: user.id, data: { name: 'Renamed' } }), 'update-user');
  same([changed.id, changed.name], [user.id, 'Renamed'], 'the changed account');
  refused(await admin.updateUser({ userId: user.id, data: {} }), 400, 'NO_DATA_TO_UPDATE', 'nothing to change');
  const promoted = ok(await admin.setRole({ userId: user.id, role: 'TEACHER' }), 'set-role');
  same(promoted.user.role, 'TEACHER', 'the role');
  refused(
    await admin.setRole({ userId: user.id, role: 'janitor' }),
    400,
    'YOU_ARE_NOT_ALLOWED_TO_SET_NON_EXISTENT_VALUE',
    'an unknown role',
  );
  refused(
    await admin.setRole({ userId: root.user.id, role: 'STUDENT' }),
    403,
    'YOU_ARE_NOT_ALLOWED_TO_CHANGE_USERS_ROLE',
    'the own role',
  );
  must(!(await stored(pupil)), 'another role ends the sessions opened under the old one');
  await pupil.signIn(login);
  const may = async (person, permissions) => ok(await person.auth.admin.hasPermission({ permissions }), 'has-permission');
  same((await may(root, { user: ['ban'] })).success, true, 'may ban');
  same((await may(pupil, { user: ['ban'] })).success, false, 'may not ban');
}

async function sessions() {
  const sessionsOf = async () => ok(await admin.listUserSessions({ userId: user.id }), 'list-user-sessions').sessions;
  const [first] = await sessionsOf();
  same(first.token, (await stored(pupil)).token, 'the session of the pupil');
  const success = { success: true };
  same(ok(await admin.revokeUserSession({ sessionToken: first.token }), 'revoke-user-session'), success, 'one');
  same(ok(await pupil.auth.getSession(), 'get-session'), null, 'a revoked session, in spite of its cookie');
  await pupil.signIn(login);
  same(ok(await admin.revokeUserSessions({ userId: user.id }), 'revoke-user-sessions'), success, 'all');
  same(ok(await pupil.auth.getSession(), 'get-session'), null, 'revoked sessions');
  same(await sessionsOf(), [], 'no session is left');
  await pupil.signIn(login);
  const newPassword = 'Lineal und Kreide';
  same(ok(await admin.setUserPassword({ userId: user.id, newPassword }), 'set-user-password'), { status: true }, 'set');
  same(ok(await pupil.auth.getSession(), 'get-session'), null, 'another password ends all sessions');
  refused(await pupil.auth.signIn.email(login), 401, 'INVALID_EMAIL_OR_PASSWORD', 'the old password');
  login.password = newPassword;
  await pupil.signIn(login);
}

async function ban() {
  const ear = await Ear.open(pupil);
  const { user: banned } = ok(await admin.banUser({ userId: user.id, banReason: 'Loud', banExpiresIn: 3600 }), 'ban-user');
  same([banned.banned, banned.banReason], [true, 'Loud'], 'the ban');
  must(banned.banExpires instanceof Date, 'until when');
  await ear.hears('session:revoked');
  await ear.hears('disconnect');
  same(ok(await pupil.auth.getSession(), 'get-session'), null, 'a banned person has no session');
  refused(await pupil.auth.signIn.email(login), 403, 'BANNED_USER', 'a banned person signs in');
  refused(await admin.banUser({ userId: root.user.id }), 400, 'YOU_CANNOT_BAN_YOURSELF', 'oneself');
  same(ok(await admin.unbanUser({ userId: user.id }), 'unban-user').user.banned, false, 'unban-user');
  await pupil.signIn(login);
}

async function impersonate() {
  const own = (await stored(root)).token;
  const there = ok(await admin.impersonateUser({ userId: user.id }), 'impersonate-user');
  same([there.session.impersonatedBy, there.user.id], [root.user.id, user.id], 'who acts as whom');
  const minutes = (there.session.expiresAt - Date.now()) / 60_000;
  must(minutes > 58 && minutes <= 60, `it ends in ${minutes} minutes instead of 60`);
  same(ok(await root.auth.getSession(), 'get-session').user.id, user.id, 'who that is now');
  refused(await admin.listUsers({ query: {} }), 403, 'YOU_ARE_NOT_ALLOWED_TO_LIST_USERS', 'as a pupil');
  const ear = await Ear.open(root);
  const back = ok(await admin.stopImpersonating(), 'stop-impersonating');
  same([back.session.token, back.user.id], [own, root.user.id], 'back in the own session');
  await ear.hears('session:revoked');
  await ear.hears('disconnect');
  ok(await admin.listUsers({ query: { limit: 1 } }), 'list-users as oneself');
  same((await admin.stopImpersonating()).error.status, 400, 'nobody is acted as');
  refused(
    await admin.impersonateUser({ userId: root.user.id }),
    403,
    'YOU_CANNOT_IMPERSONATE_ADMINS',
    'somebody who runs the platform',
  );
}

async function remove() {
  same(ok(await admin.removeUser({ userId: user.id }), 'remove-user'), { success: true }, 'remove-user');
  refused(await admin.getUser({ query: { id: user.id } }), 404, 'USER_NOT_FOUND', 'who was removed');
  refused(await pupil.auth.signIn.email(login), 401, 'INVALID_EMAIL_OR_PASSWORD', 'sign-in of a removed person');
  refused(await admin.removeUser({ userId: root.user.id }), 400, 'YOU_CANNOT_REMOVE_YOURSELF', 'oneself');
  const again = ok(await admin.createUser({ ...login, name: 'Somebody else' }), 'the address is free again');
  ok(await admin.removeUser({ userId: again.user.id }), 'remove-user');
}

async function nobodyElse() {
  await teacher.signIn(here.people.teacher);
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
  for (const [what, call] of Object.entries(calls)) refused(await call, 403, `YOU_ARE_NOT_ALLOWED_TO_${what}`, what);
  refused(await theirs.unbanUser({ userId }), 403, 'YOU_ARE_NOT_ALLOWED_TO_BAN_USERS', 'unban-user');
  refused(
    await theirs.revokeUserSession({ sessionToken: 'x' }),
    403,
    'YOU_ARE_NOT_ALLOWED_TO_REVOKE_USERS_SESSIONS',
    'revoke-user-session',
  );
  must(await stored(root), 'the super admin is still there');
}

await tell([
  ['an account is made and read', makeAndRead],
  ['accounts are listed, searched and filtered', list],
  ['profile and role of an account are changed', change],
  ['sessions are listed and revoked, passwords set', sessions],
  ['a ban ends sessions and sockets at once', ban],
  ['acting as somebody leads there and back', impersonate],
  ['a removed person is gone', remove],
  ['nobody else administers', nobodyElse],
]);
