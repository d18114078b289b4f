// The calls of the official better-auth client for the own account, and the organization calls that are rejected because
// other routes manage organizations. Together with better-auth-calls.mjs and better-auth-admin.mjs, every route under /auth
// is called.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CheckError, WAIT_MILLISECONDS, assert, assertEqual, runSteps, readWorld } from './api.mjs';
import { dataOf, expectError, storedSession } from './better-auth-checks.mjs';
import { User } from './session.mjs';

const world = readWorld();
const login = { ...world.people.students[0] };
const student = new User(world, 'the student');
const secondDevice = new User(world, 'the student at home');
const stranger = new User(world, 'the stranger');
const teacher = new User(world, 'the teacher');
const visitor = new User(world, 'a visitor');
const NEW = 'Dreieck und Kreis';

async function profile() {
  await student.signIn(login);
  const { user } = dataOf(await student.auth.getSession(), 'get-session');
  expectError(await student.auth.updateUser({ name: 'Ben B.' }), 403, 'NAME_SET_BY_SCHOOL', 'another name of a student');
  expectError(await student.auth.updateUser({ image: '/ben.png' }), 400, 'VALIDATION_ERROR', 'a picture from an address');
  assertEqual(dataOf(await student.auth.updateUser({ image: null }), 'update-user'), { status: true }, 'the response');
  await teacher.signIn(world.people.teacher);
  const before = dataOf(await teacher.auth.getSession(), 'get-session').user.name;
  dataOf(await teacher.auth.updateUser({ name: 'Ada L.' }), 'update-user');
  assertEqual(dataOf(await teacher.auth.getSession(), 'get-session').user.name, 'Ada L.', 'the changed profile, also in the cookie');
  dataOf(await teacher.auth.updateUser({ name: before }), 'update-user');
  expectError(await student.auth.updateUser({ email: 'x@y.example' }), 400, 'EMAIL_CAN_NOT_BE_UPDATED', 'another address');
  expectError(await student.auth.updateUser({ role: 'SUPER_ADMIN' }), 400, 'FIELD_NOT_ALLOWED', 'another role');
  expectError(await visitor.auth.updateUser({ name: 'X' }), 401, 'UNAUTHORIZED', 'update-user of a visitor');
  const accounts = dataOf(await student.auth.listAccounts(), 'list-accounts');
  assertEqual([accounts.length, accounts[0].providerId, accounts[0].userId], [1, 'credential', user.id], 'the accounts');
  assert(accounts[0].createdAt instanceof Date, 'the client revives dates');
  expectError(await visitor.auth.listAccounts(), 401, 'UNAUTHORIZED', 'list-accounts of a visitor');
}

async function password() {
  const { changePassword } = student.auth;
  const verify = (guess) => student.auth.verifyPassword({ password: guess });
  assertEqual(dataOf(await verify(login.password), 'verify-password'), { status: true }, 'the right password');
  expectError(await verify('a wrong password'), 400, 'INVALID_PASSWORD', 'a wrong password');
  const change = (currentPassword, newPassword, more = {}) =>
    changePassword({ currentPassword, newPassword, ...more });
  expectError(await change('a wrong password', NEW), 400, 'INVALID_PASSWORD', 'change with a wrong password');
  expectError(await change(login.password, 'short'), 400, 'PASSWORD_TOO_SHORT', 'a short password');
  expectError(await change(login.password, 'x'.repeat(129)), 400, 'PASSWORD_TOO_LONG', 'a long password');
  await secondDevice.signIn(login);
  const kept = dataOf(await change(login.password, NEW), 'change-password');
  assertEqual([kept.token, kept.user.id], [null, student.user.id], 'the response');
  assert(await storedSession(secondDevice), 'the other session continues');
  const others = dataOf(await change(NEW, login.password, { revokeOtherSessions: true }), 'change and revoke');
  assertEqual((await storedSession(student)).token, others.token, 'the new session');
  assertEqual(dataOf(await secondDevice.auth.getSession(), 'the other session'), null, 'the other session has ended');
}

/** Returns the newest email to this address. Without an SMTP server, emails are files. */
async function receivedEmail(address, word = '') {
  const folder = join(world.dataDir, 'outbox');
  for (const end = Date.now() + WAIT_MILLISECONDS; Date.now() < end; ) {
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml')).sort();
    for (const name of names.reverse()) {
      const text = await readFile(join(folder, name), 'utf8');
      const [head] = text.split(/\r?\n\r?\n/, 1);
      if (/^To:.*$/m.exec(head)?.[0].includes(address) && decodeQuotedPrintable(text).includes(word)) return decodeQuotedPrintable(text);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new CheckError(`no email to ${address} in ${folder}`);
}

/** Decodes a quoted-printable text. */
const decodeQuotedPrintable = (text) =>
  text.replace(/=\r?\n/g, '').replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));

async function reset() {
  const ask = (email, redirectTo) => visitor.auth.requestPasswordReset({ email, redirectTo });
  const known = dataOf(await ask(login.email, '/new-password'), 'request-password-reset');
  const unknown = dataOf(await ask('unknown@nowhere.example', '/new-password'), 'for an unknown address');
  assertEqual(known, unknown, 'the same response for known and unknown addresses');
  expectError(await ask(login.email, 'https://evil.example/'), 403, 'INVALID_REDIRECT_URL', 'a foreign page');
  if (!world.dataDir) return;
  await secondDevice.signIn(login);
  const link = (await receivedEmail(login.email)).split(/\s+/).find((word) => word.includes('/api/auth/reset-password/'));
  const { pathname, search } = new URL(link);
  const followed = await visitor.api.get(pathname.replace(/^\/api/, '') + search);
  assertEqual(followed.status, 302, 'the link redirects', followed);
  const page = new URL(followed.headers.get('location'), world.baseUrl);
  assertEqual(page.pathname, '/new-password', 'the target of the link');
  const token = page.searchParams.get('token');
  expectError(await visitor.auth.resetPassword({ newPassword: 'short', token }), 400, 'PASSWORD_TOO_SHORT', 'too short');
  assertEqual(dataOf(await visitor.auth.resetPassword({ newPassword: NEW, token }), 'reset-password'), { status: true }, 'the response');
  expectError(await visitor.auth.resetPassword({ newPassword: NEW, token }), 400, 'INVALID_TOKEN', 'a used link');
  assertEqual(dataOf(await secondDevice.auth.getSession(), 'after a reset'), null, 'a reset ends all sessions');
  login.password = NEW;
  await student.signIn(login);
}

async function permissions() {
  await student.selectOrganization();
  const may = async (wanted) => dataOf(await student.auth.organization.hasPermission({ permissions: wanted }), 'has-permission');
  assertEqual((await may({ organization: ['delete'] })).success, false, 'a student cannot delete the school');
  assertEqual((await may({ ac: ['read'] })).success, true, 'a student can read the rules');
  await stranger.signIn(world.people.stranger);
  expectError(
    await stranger.auth.organization.hasPermission({ organizationId: student.organizationId, permissions: { ac: ['read'] } }),
    401,
    'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
    'permissions in another school',
  );
}

async function organizationCallsRejected() {
  const { organization } = student.auth;
  const calls = {
    'check-slug': [organization.checkSlug({ slug: 'free' }), 'YOU_ARE_NOT_ALLOWED_TO_CREATE_A_NEW_ORGANIZATION'],
    create: [organization.create({ name: 'Own', slug: 'own' }), 'YOU_ARE_NOT_ALLOWED_TO_CREATE_A_NEW_ORGANIZATION'],
    update: [organization.update({ data: { name: 'X' } }), 'YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_ORGANIZATION'],
    delete: [
      organization.delete({ organizationId: student.organizationId }),
      'YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_ORGANIZATION',
    ],
    leave: [
      organization.leave({ organizationId: student.organizationId }),
      'YOU_ARE_NOT_ALLOWED_TO_ACCESS_THIS_ORGANIZATION',
    ],
    'update-member-role': [
      organization.updateMemberRole({ memberId: 'x', role: 'owner' }),
      'YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_MEMBER',
    ],
    'remove-member': [
      organization.removeMember({ memberIdOrEmail: login.email }),
      'YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_MEMBER',
    ],
    'invite-member': [
      organization.inviteMember({ email: 'new@school.example', role: 'student' }),
      'YOU_ARE_NOT_ALLOWED_TO_INVITE_USERS_TO_THIS_ORGANIZATION',
    ],
  };
  for (const [name, [call, code]] of Object.entries(calls)) expectError(await call, 403, code, `organization/${name}`);
  const unknown = { invitationId: 'x' };
  expectError(await organization.cancelInvitation(unknown), 400, 'INVITATION_NOT_FOUND', 'organization/cancel-invitation');
  expectError(await organization.acceptInvitation(unknown), 400, 'INVITATION_NOT_FOUND', 'organization/accept-invitation');
  expectError(await organization.rejectInvitation(unknown), 400, 'INVITATION_NOT_FOUND', 'organization/reject-invitation');
  expectError(await organization.getInvitation({ query: { id: 'x' } }), 400, 'INVITATION_NOT_FOUND', 'organization/get-invitation');
  expectError(await organization.listInvitations(), 403, 'YOU_ARE_NOT_ALLOWED_TO_LIST_INVITATIONS', 'organization/list-invitations');
  const { status } = (await visitor.auth.organization.create({ name: 'Own', slug: 'own' })).error;
  assertEqual(status, 401, 'organization/create of a visitor');
  assertEqual((await student.auth.organization.list()).data.length, 1, 'still a member of the one school');
}

async function invitations() {
  if (!world.dataDir || !world.people.admin) return;
  const admin = new User(world, 'the administrator');
  await admin.signIn(world.people.admin);
  await admin.selectOrganization();
  const guest = { ...world.people.stranger };
  const invite = async (role) => {
    const made = await admin.api.post('/users', { name: 'A guest', email: guest.email, role });
    assertEqual(made.status, 201, 'the invitation', made);
    return made.body.invitation.id;
  };
  const id = await invite('TEACHER');
  await stranger.signIn(guest);
  const { organization } = stranger.auth;
  expectError(await organization.listUserInvitations(), 403, 'EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION', 'an unverified mailbox');
  expectError(
    await organization.acceptInvitation({ invitationId: id }),
    403,
    'EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION',
    'accepting with an unverified mailbox',
  );
  dataOf(await visitor.auth.requestPasswordReset({ email: guest.email, redirectTo: '/new-password' }), 'request-password-reset');
  const text = await receivedEmail(guest.email, 'reset-password');
  const link = text.split(/\s+/).find((word) => word.includes('reset-password') && /[A-Za-z0-9]{24}/.test(word));
  const [token] = /[A-Za-z0-9]{24}/.exec(link);
  dataOf(await visitor.auth.resetPassword({ newPassword: NEW, token }), 'reset-password');
  await stranger.signIn({ ...guest, password: NEW });
  const own = dataOf(await organization.listUserInvitations(), 'list-user-invitations');
  assertEqual([own.length, own[0].id, own[0].role], [1, id, 'teacher'], 'the own invitations');
  assert(own[0].organizationName && own[0].expiresAt instanceof Date, 'the organization has a name, and dates are revived');
  const shown = dataOf(await organization.getInvitation({ query: { id } }), 'get-invitation');
  assertEqual(shown.inviterEmail, world.people.admin.email, 'the inviter');
  const notRecipient = await student.auth.organization.acceptInvitation({ invitationId: id });
  expectError(notRecipient, 403, 'YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION', 'another user');
  const accepted = dataOf(await organization.acceptInvitation({ invitationId: id }), 'accept-invitation');
  assertEqual([accepted.invitation.status, accepted.member.role], ['accepted', 'teacher'], 'the response');
  assertEqual((await storedSession(stranger)).activeOrganizationId, accepted.member.organizationId, 'the session works there');
  expectError(await organization.acceptInvitation({ invitationId: id }), 400, 'INVITATION_NOT_FOUND', 'accepting twice');
  const listed = dataOf(await admin.auth.organization.listInvitations(), 'list-invitations');
  assertEqual(listed.find((one) => one.id === id)?.status, 'accepted', 'the status for the administrator');
  expectError(await admin.auth.organization.cancelInvitation({ invitationId: id }), 400, 'INVITATION_NOT_FOUND', 'withdrawing too late');
}

await runSteps([
  ['users can change only name and picture of their account', profile],
  ['a password is verified and changed', password],
  ['a forgotten password is reset by email', reset],
  ['permissions are those of the own role', permissions],
  ['organizations cannot be created, left or joined under /auth', organizationCallsRejected],
  ['an invitation is accepted with a verified mailbox', invitations],
]);
