// The calls of the official better-auth client for the own account, and the organization calls that are rejected because
// schools are administered by other routes. Together with better-auth-calls.mjs and better-auth-admin.mjs they cover every
// route under /auth.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, must, same, tell, world } from './api.mjs';
import { ok, refused, stored } from './better-auth-refusals.mjs';
import { Person } from './session.mjs';

const here = world();
const login = { ...here.people.students[0] };
const pupil = new Person(here, 'the pupil');
const elsewhere = new Person(here, 'the pupil at home');
const stranger = new Person(here, 'the stranger');
const teacher = new Person(here, 'the teacher');
const visitor = new Person(here, 'a visitor');
const NEW = 'Dreieck und Kreis';

async function profile() {
  await pupil.signIn(login);
  const { user } = ok(await pupil.auth.getSession(), 'get-session');
  refused(await pupil.auth.updateUser({ name: 'Ben B.' }), 403, 'NAME_SET_BY_SCHOOL', 'another name of a student');
  refused(await pupil.auth.updateUser({ image: '/ben.png' }), 400, 'VALIDATION_ERROR', 'a picture from an address');
  same(ok(await pupil.auth.updateUser({ image: null }), 'update-user'), { status: true }, 'answer');
  await teacher.signIn(here.people.teacher);
  const before = ok(await teacher.auth.getSession(), 'get-session').user.name;
  ok(await teacher.auth.updateUser({ name: 'Ada L.' }), 'update-user');
  same(ok(await teacher.auth.getSession(), 'get-session').user.name, 'Ada L.', 'the changed profile, also in the cookie');
  ok(await teacher.auth.updateUser({ name: before }), 'update-user');
  refused(await pupil.auth.updateUser({ email: 'x@y.example' }), 400, 'EMAIL_CAN_NOT_BE_UPDATED', 'another address');
  refused(await pupil.auth.updateUser({ role: 'SUPER_ADMIN' }), 400, 'FIELD_NOT_ALLOWED', 'another role');
  refused(await visitor.auth.updateUser({ name: 'X' }), 401, 'UNAUTHORIZED', 'update-user of a visitor');
  const accounts = ok(await pupil.auth.listAccounts(), 'list-accounts');
  same([accounts.length, accounts[0].providerId, accounts[0].userId], [1, 'credential', user.id], 'the accounts');
  must(accounts[0].createdAt instanceof Date, 'the client revives dates');
  refused(await visitor.auth.listAccounts(), 401, 'UNAUTHORIZED', 'list-accounts of a visitor');
}

async function password() {
  const { changePassword } = pupil.auth;
  const verify = (guess) => pupil.auth.verifyPassword({ password: guess });
  same(ok(await verify(login.password), 'verify-password'), { status: true }, 'the right password');
  refused(await verify('a wrong password'), 400, 'INVALID_PASSWORD', 'a wrong password');
  const change = (currentPassword, newPassword, more = {}) =>
    changePassword({ currentPassword, newPassword, ...more });
  refused(await change('a wrong password', NEW), 400, 'INVALID_PASSWORD', 'change with a wrong password');
  refused(await change(login.password, 'short'), 400, 'PASSWORD_TOO_SHORT', 'a short password');
  refused(await change(login.password, 'x'.repeat(129)), 400, 'PASSWORD_TOO_LONG', 'a long password');
  await elsewhere.signIn(login);
  const kept = ok(await change(login.password, NEW), 'change-password');
  same([kept.token, kept.user.id], [null, pupil.user.id], 'the answer');
  must(await stored(elsewhere), 'the other session goes on');
  const others = ok(await change(NEW, login.password, { revokeOtherSessions: true }), 'change and revoke');
  same((await stored(pupil)).token, others.token, 'the new session');
  same(ok(await elsewhere.auth.getSession(), 'the other session'), null, 'the other session is over');
}

/** Returns the newest email to this address; without an SMTP server emails are files. */
async function letter(email, word = '') {
  const folder = join(here.dataDir, 'outbox');
  for (const end = Date.now() + 15_000; Date.now() < end; ) {
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.eml')).sort();
    for (const name of names.reverse()) {
      const text = await readFile(join(folder, name), 'utf8');
      const [head] = text.split(/\r?\n\r?\n/, 1);
      if (/^To:.*$/m.exec(head)?.[0].includes(email) && unquoted(text).includes(word)) return unquoted(text);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Failure(`no letter to ${email} in ${folder}`);
}

/** Decodes a quoted-printable email. */
const unquoted = (text) =>
  text.replace(/=\r?\n/g, '').replace(/=([0-9A-F]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));

async function reset() {
  const ask = (email, redirectTo) => visitor.auth.requestPasswordReset({ email, redirectTo });
  const known = ok(await ask(login.email, '/new-password'), 'request-password-reset');
  same(known, ok(await ask('nobody@nowhere.example', '/new-password'), 'for nobody'), 'known and unknown alike');
  refused(await ask(login.email, 'https://evil.example/'), 403, 'INVALID_REDIRECT_URL', 'a foreign page');
  if (!here.dataDir) return;
  await elsewhere.signIn(login);
  const link = (await letter(login.email)).split(/\s+/).find((word) => word.includes('/api/auth/reset-password/'));
  const { pathname, search } = new URL(link);
  const followed = await visitor.api.get(pathname.replace(/^\/api/, '') + search);
  same(followed.status, 302, 'the link leads on', followed);
  const page = new URL(followed.headers.get('location'), here.baseUrl);
  same(page.pathname, '/new-password', 'where the link leads');
  const token = page.searchParams.get('token');
  refused(await visitor.auth.resetPassword({ newPassword: 'short', token }), 400, 'PASSWORD_TOO_SHORT', 'too short');
  same(ok(await visitor.auth.resetPassword({ newPassword: NEW, token }), 'reset-password'), { status: true }, 'answer');
  refused(await visitor.auth.resetPassword({ newPassword: NEW, token }), 400, 'INVALID_TOKEN', 'a used link');
  same(ok(await elsewhere.auth.getSession(), 'after a reset'), null, 'a reset ends all sessions');
  login.password = NEW;
  await pupil.signIn(login);
}

async function permissions() {
  await pupil.enter();
  const may = async (wanted) => ok(await pupil.auth.organization.hasPermission({ permissions: wanted }), 'has-permission');
  same((await may({ organization: ['delete'] })).success, false, 'a student may not delete the school');
  same((await may({ ac: ['read'] })).success, true, 'a student may read the rules');
  await stranger.signIn(here.people.stranger);
  refused(
    await stranger.auth.organization.hasPermission({ organizationId: pupil.organizationId, permissions: { ac: ['read'] } }),
    401,
    'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
    'permissions in another school',
  );
}

async function refusedOnPurpose() {
  const { organization } = pupil.auth;
  const calls = {
    'check-slug': [organization.checkSlug({ slug: 'free' }), 'YOU_ARE_NOT_ALLOWED_TO_CREATE_A_NEW_ORGANIZATION'],
    create: [organization.create({ name: 'Own', slug: 'own' }), 'YOU_ARE_NOT_ALLOWED_TO_CREATE_A_NEW_ORGANIZATION'],
    update: [organization.update({ data: { name: 'X' } }), 'YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_ORGANIZATION'],
    delete: [
      organization.delete({ organizationId: pupil.organizationId }),
      'YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_ORGANIZATION',
    ],
    leave: [
      organization.leave({ organizationId: pupil.organizationId }),
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
  for (const [name, [call, code]] of Object.entries(calls)) refused(await call, 403, code, `organization/${name}`);
  const unknown = { invitationId: 'x' };
  refused(await organization.cancelInvitation(unknown), 400, 'INVITATION_NOT_FOUND', 'organization/cancel-invitation');
  refused(await organization.acceptInvitation(unknown), 400, 'INVITATION_NOT_FOUND', 'organization/accept-invitation');
  refused(await organization.rejectInvitation(unknown), 400, 'INVITATION_NOT_FOUND', 'organization/reject-invitation');
  refused(await organization.getInvitation({ query: { id: 'x' } }), 400, 'INVITATION_NOT_FOUND', 'organization/get-invitation');
  refused(await organization.listInvitations(), 403, 'YOU_ARE_NOT_ALLOWED_TO_LIST_INVITATIONS', 'organization/list-invitations');
  const { status } = (await visitor.auth.organization.create({ name: 'Own', slug: 'own' })).error;
  same(status, 401, 'organization/create of a visitor');
  same((await pupil.auth.organization.list()).data.length, 1, 'still a member of the one school');
}

async function invitations() {
  if (!here.dataDir || !here.people.admin) return;
  const admin = new Person(here, 'the administrator');
  await admin.signIn(here.people.admin);
  await admin.enter();
  const guest = { ...here.people.stranger };
  const invite = async (role) => {
    const made = await admin.api.post('/users', { name: 'A guest', email: guest.email, role });
    same(made.status, 201, 'the invitation', made);
    return made.body.invitation.id;
  };
  const id = await invite('TEACHER');
  await stranger.signIn(guest);
  const { organization } = stranger.auth;
  refused(await organization.listUserInvitations(), 403, 'EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION', 'an unproven mailbox');
  refused(
    await organization.acceptInvitation({ invitationId: id }),
    403,
    'EMAIL_VERIFICATION_REQUIRED_BEFORE_ACCEPTING_OR_REJECTING_INVITATION',
    'accepting with an unproven mailbox',
  );
  ok(await visitor.auth.requestPasswordReset({ email: guest.email, redirectTo: '/new-password' }), 'request-password-reset');
  const text = await letter(guest.email, 'reset-password');
  const link = text.split(/\s+/).find((word) => word.includes('reset-password') && /[A-Za-z0-9]{24}/.test(word));
  const [token] = /[A-Za-z0-9]{24}/.exec(link);
  ok(await visitor.auth.resetPassword({ newPassword: NEW, token }), 'reset-password');
  await stranger.signIn({ ...guest, password: NEW });
  const own = ok(await organization.listUserInvitations(), 'list-user-invitations');
  same([own.length, own[0].id, own[0].role], [1, id, 'teacher'], 'the own invitations');
  must(own[0].organizationName && own[0].expiresAt instanceof Date, 'the organization has a name, and dates are revived');
  const shown = ok(await organization.getInvitation({ query: { id } }), 'get-invitation');
  same(shown.inviterEmail, here.people.admin.email, 'who invited');
  refused(await pupil.auth.organization.acceptInvitation({ invitationId: id }), 403, 'YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION', 'somebody else');
  const accepted = ok(await organization.acceptInvitation({ invitationId: id }), 'accept-invitation');
  same([accepted.invitation.status, accepted.member.role], ['accepted', 'teacher'], 'the answer');
  same((await stored(stranger)).activeOrganizationId, accepted.member.organizationId, 'the session works there');
  refused(await organization.acceptInvitation({ invitationId: id }), 400, 'INVITATION_NOT_FOUND', 'accepting twice');
  const listed = ok(await admin.auth.organization.listInvitations(), 'list-invitations');
  same(listed.find((one) => one.id === id)?.status, 'accepted', 'what the administrator sees');
  refused(await admin.auth.organization.cancelInvitation({ invitationId: id }), 400, 'INVITATION_NOT_FOUND', 'withdrawing too late');
}

await tell([
  ['everybody changes the own name and picture, and nothing more', profile],
  ['a password is proved and changed', password],
  ['a forgotten password is reset by letter', reset],
  ['permissions are those of the own role', permissions],
  ['schools are made, left and joined elsewhere', refusedOnPurpose],
  ['an invitation is accepted with a proven mailbox', invitations],
]);
