// The calls of the official better-auth client that the service implements like the library, and their errors. Where the
// service is stricter by design (a revocation takes effect at once), its own behaviour is required.
import { Api, waitUntil, assert, assertEqual, sorted, runSteps, readWorld } from './api.mjs';
import { checkManagementRejected, dataOf, checkOrigins, expectError, checkSignUpRejected, storedSession } from './better-auth-checks.mjs';
import { User } from './session.mjs';
import { SocketListener } from './socket.mjs';

const world = readWorld();
const { teacher: teacherLogin, students, stranger: strangerLogin } = world.people;
const visitor = new User(world, 'a visitor');
const teacher = new User(world, 'the teacher');
const secondDevice = new User(world, 'the teacher on another computer');
const student = new User(world, 'a student');
let school;
let otherSchool;

async function invalidSignIns() {
  const email = 'nobody@nowhere.example';
  expectError(
    await visitor.auth.signIn.email({ email, password: 'wrong-password' }),
    401,
    'INVALID_EMAIL_OR_PASSWORD',
    'an unknown address',
  );
  const wrong = { email: teacherLogin.email, password: `${teacherLogin.password}!` };
  expectError(await visitor.auth.signIn.email(wrong), 401, 'INVALID_EMAIL_OR_PASSWORD', 'a wrong password');
  expectError(
    await visitor.auth.signIn.email({ email: 'no address', password: 'x' }),
    400,
    'INVALID_EMAIL',
    'not an address',
  );
  expectError(await visitor.auth.signIn.email({ email }), 400, 'VALIDATION_ERROR', 'no password');
  const long = { email: teacherLogin.email, password: 'x'.repeat(129) };
  expectError(await visitor.auth.signIn.email(long), 400, 'PASSWORD_TOO_LONG', 'a password of 129 characters');
  assertEqual(visitor.jar.cookies.size, 0, 'a rejected sign-in sets no cookie');
  assertEqual(dataOf(await visitor.auth.getSession(), 'get-session of a visitor'), null, 'the session of a visitor');
}

async function signIn() {
  const capitals = { ...teacherLogin, email: teacherLogin.email.toUpperCase() };
  const data = dataOf(await teacher.auth.signIn.email(capitals), 'sign-in with an address in capitals');
  teacher.user = data.user;
  assertEqual([data.redirect, data.user.email], [false, teacherLogin.email.toLowerCase()], 'the response of sign-in');
  assert(!JSON.stringify(data).includes('password'), 'the response of sign-in must not contain passwords');
  const cookie = (name) => [...teacher.jar.cookies].find(([full]) => full.endsWith(`better-auth.${name}`))?.[1];
  for (const [name, age] of [
    ['session_token', 86_400],
    ['session_data', 300],
  ]) {
    assert(cookie(name), `sign-in sets the cookie ${name}`);
    const attributes = cookie(name).attributes.map((attribute) => attribute.toLowerCase());
    for (const wanted of [`max-age=${age}`, 'path=/', 'httponly', 'samesite=lax']) {
      assert(attributes.includes(wanted), `the cookie ${name} lacks ${wanted}: ${attributes}`);
    }
  }
  const value = decodeURIComponent(cookie('session_token').value);
  assertEqual(value.slice(0, value.lastIndexOf('.')), data.token, 'the signed value of the cookie');
}

async function getSession() {
  const { session, user } = dataOf(await teacher.auth.getSession(), 'get-session');
  assertEqual(session.activeOrganizationId, null, 'the organization right after sign-in');
  assertEqual([session.userId, user.id], [teacher.user.id, teacher.user.id], 'the user of the session');
  for (const date of [session.createdAt, session.updatedAt, session.expiresAt, user.createdAt]) {
    assert(date instanceof Date, `the client revives dates, but this stayed ${JSON.stringify(date)}`);
  }
  const hours = (session.expiresAt - Date.now()) / 3_600_000;
  assert(hours > 23.9 && hours <= 24, `the session ends in ${hours} hours instead of 24`);
  assertEqual((await storedSession(teacher)).token, session.token, 'the token in the database');
  (await teacher.api.get('/classes')).expect(400, 'NO_ACTIVE_ORGANIZATION');
}

async function setActive() {
  const list = dataOf(await teacher.auth.organization.list(), 'organization/list');
  assert(list.length > 0, 'the teacher is a member of a school');
  [school] = list;
  assert(
    school.id && school.name && school.slug && 'logo' in school && 'metadata' in school,
    `an organization: ${JSON.stringify(school)}`,
  );
  const stranger = await new User(world, 'the stranger').signIn(strangerLogin);
  [otherSchool] = dataOf(await stranger.auth.organization.list(), "the stranger's organizations");
  assert(otherSchool.id !== school.id, 'the stranger belongs to another school');

  const active = async () => dataOf(await teacher.auth.getSession(), 'get-session').session.activeOrganizationId;
  const { organization } = teacher.auth;
  assertEqual(
    dataOf(await organization.setActive({ organizationId: school.id }), 'set-active by id').id,
    school.id,
    'the active one',
  );
  assertEqual(await active(), school.id, 'the organization that the next get-session shows');
  assertEqual(dataOf(await organization.setActive({ organizationId: null }), 'set-active to none'), null, 'none');
  assertEqual(await active(), null, 'no active organization');
  assertEqual(
    dataOf(await organization.setActive({ organizationSlug: school.slug }), 'set-active by slug').id,
    school.id,
    'by slug',
  );
  expectError(
    await organization.setActive({ organizationSlug: 'no-such-school' }),
    400,
    'ORGANIZATION_NOT_FOUND',
    'an unknown slug',
  );
  assertEqual((await storedSession(teacher)).activeOrganizationId, school.id, 'an unknown slug changes nothing');

  const foreign = 'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION';
  expectError(await organization.setActive({ organizationId: otherSchool.id }), 403, foreign, 'the other school');
  assertEqual((await storedSession(teacher)).activeOrganizationId, null, 'the organization after a rejected one');
  expectError(await organization.setActive({ organizationId: 'unknown' }), 403, foreign, 'an unknown school');
  expectError(await visitor.auth.organization.setActive({ organizationId: school.id }), 401, 'UNAUTHORIZED', 'a visitor');
  await teacher.selectOrganization(school.id);
}

async function readOrganization() {
  const { organization } = teacher.auth;
  const whole = dataOf(await organization.getFullOrganization(), 'get-full-organization');
  assertEqual(whole.id, school.id, 'the active organization');
  assert(Array.isArray(whole.invitations), 'invitations is a list');
  const own = whole.members.find((member) => member.userId === teacher.user.id);
  assert(
    own?.user?.email === teacher.user.email && own.organizationId === school.id,
    `the own member row: ${JSON.stringify(own)}`,
  );
  for (const query of [{ organizationId: school.id }, { organizationSlug: school.slug }]) {
    assertEqual(
      dataOf(await organization.getFullOrganization({ query }), JSON.stringify(query)).id,
      school.id,
      JSON.stringify(query),
    );
  }
  const { invitations: _invitations, members: _members, ...plain } = whole;
  assertEqual(dataOf(await organization.getOrganization(), 'get-organization'), plain, 'the active organization without members');
  const bySlug = { query: { organizationSlug: school.slug } };
  assertEqual(dataOf(await organization.getOrganization(bySlug), 'get-organization by slug').id, school.id, 'by short name');
  expectError(
    await organization.getOrganization({ query: { organizationId: otherSchool.id } }),
    403,
    'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
    "another school's organization without members",
  );
  await teacher.selectOrganization(school.id);
  expectError(
    await teacher.auth.updateSession({ activeOrganizationId: otherSchool.id }),
    400,
    'FIELD_NOT_ALLOWED',
    'another organization through update-session',
  );
  expectError(await teacher.auth.updateSession({ theme: 'dark' }), 400, 'BAD_REQUEST', 'a field that sessions do not have');
  const unchanged = dataOf(await teacher.auth.getSession(), 'get-session after update-session');
  assertEqual(unchanged.session.activeOrganizationId, school.id, 'the organization after update-session');
  const member = dataOf(await organization.getActiveMember(), 'get-active-member');
  assertEqual([member.id, member.userId, member.role], [own.id, own.userId, own.role], 'the active member');
  assertEqual(member.user.email, teacher.user.email, 'the user in the active member');
  assertEqual(dataOf(await organization.getActiveMemberRole(), 'get-active-member-role'), { role: own.role }, 'the active role');
  const page = dataOf(await organization.listMembers({ query: { limit: 1 } }), 'list-members');
  assertEqual(page.members.length, 1, 'a page of one member');
  assert(page.total >= 2, `the total counts all members: ${page.total}`);
  const theirs = { query: { organizationId: otherSchool.id } };
  expectError(
    await organization.getFullOrganization(theirs),
    403,
    'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
    "another school's organization",
  );
  await teacher.selectOrganization(school.id);

  await student.signIn(students[0]);
  expectError(
    await student.auth.organization.getActiveMember(),
    400,
    'NO_ACTIVE_ORGANIZATION',
    'a member of no active organization',
  );
  expectError(
    await student.auth.organization.getActiveMemberRole(),
    400,
    'NO_ACTIVE_ORGANIZATION',
    'a role in no active organization',
  );
  assertEqual(dataOf(await student.auth.organization.getFullOrganization(), 'no organization'), null, 'no active organization');
  await student.selectOrganization(school.id);
  const seen = dataOf(await student.auth.organization.getFullOrganization(), 'get-full-organization of a student');
  assertEqual(
    seen.members.map(({ userId }) => userId),
    [student.user.id],
    'a student reads only their own membership',
  );
  const listed = dataOf(await student.auth.organization.listMembers({ query: {} }), 'list-members of a student');
  assertEqual(
    listed.members.map(({ userId }) => userId),
    [student.user.id],
    'a student lists only their own membership',
  );
  assertEqual(
    dataOf(await student.auth.organization.getActiveMemberRole(), "a student's role"),
    { role: 'student' },
    "a student's role",
  );
}

async function revoke() {
  const tokens = async () => sorted(dataOf(await teacher.auth.listSessions(), 'list-sessions').map(({ token }) => token));
  const mine = (await storedSession(teacher)).token;
  await secondDevice.signIn(teacherLogin);
  await secondDevice.selectOrganization(school.id);
  const theirs = (await storedSession(secondDevice)).token;
  const listed = await tokens();
  assert(listed.includes(mine) && listed.includes(theirs), 'list-sessions names both sessions');
  expectError(await visitor.auth.listSessions(), 401, 'UNAUTHORIZED', 'list-sessions of a visitor');

  const listener = await SocketListener.open(secondDevice);
  assertEqual(
    dataOf(await student.auth.revokeSession({ token: theirs }), "a stranger's revoke-session"),
    { status: true },
    'the response',
  );
  (await secondDevice.api.get('/classes')).expect(200);
  assertEqual(dataOf(await teacher.auth.revokeSession({ token: theirs }), 'revoke-session'), { status: true }, 'revoke-session');
  (await secondDevice.api.get('/classes')).expect(401, 'UNAUTHENTICATED');
  assertEqual(
    dataOf(await secondDevice.auth.getSession(), 'get-session after revocation'),
    null,
    'a revoked session, despite its cookie cache',
  );
  await listener.waitFor('session:revoked');
  await listener.waitFor('disconnect');
  assert(!(await tokens()).includes(theirs), 'a revoked session is not listed');

  await secondDevice.signIn(teacherLogin);
  assertEqual(
    dataOf(await teacher.auth.revokeOtherSessions(), 'revoke-other-sessions'),
    { status: true },
    'revoke-other-sessions',
  );
  assertEqual(await tokens(), [mine], 'only the own session is left');
  assertEqual(dataOf(await secondDevice.auth.getSession(), 'get-session of the other'), null, 'the other session');
  assertEqual(dataOf(await teacher.auth.revokeSessions(), 'revoke-sessions'), { status: true }, 'revoke-sessions');
  assertEqual(dataOf(await teacher.auth.getSession(), 'get-session after revoke-sessions'), null, 'the own session');
  expectError(await teacher.auth.listSessions(), 401, 'UNAUTHORIZED', 'list-sessions after revoke-sessions');
}

async function signOut() {
  const listener = await SocketListener.open(student);
  const old = { cookie: student.jar.header };
  assertEqual(dataOf(await student.auth.signOut(), 'sign-out'), { success: true }, 'sign-out');
  assert(!student.jar.header.includes('session_token'), 'sign-out clears the cookies');
  const replay = new Api(`${world.baseUrl}/api`, 'a client with the old cookies');
  assertEqual((await replay.call('GET', '/auth/get-session', undefined, old)).expect(200).text, 'null', 'the old cookies');
  (await replay.call('GET', '/classes', undefined, old)).expect(401, 'UNAUTHENTICATED');
  await listener.waitFor('session:revoked');
  await waitUntil(
    () => listener.socket.connected,
    (connected) => !connected,
    'the socket of a signed-out session ends',
  );
  assertEqual(dataOf(await student.auth.signOut(), 'sign-out twice'), { success: true }, 'sign-out twice');
}

await runSteps([
  ['invalid sign-ins are rejected in the same way for all addresses', invalidSignIns],
  ['sign-in sets the cookies of the library', signIn],
  ['get-session shows a session of 24 hours without an organization', getSession],
  ['set-active by id, by slug, to none, and never to another school', setActive],
  ['the organization, its members and the own role', readOrganization],
  ['organizations and accounts cannot be managed under /auth', () => checkManagementRejected(world, teacher, school)],
  ['a revoked session ends at once', revoke],
  ['sign-up is always rejected', () => checkSignUpRejected(world, visitor)],
  ['requests of a foreign origin are rejected, and unknown routes return an empty body', () => checkOrigins(world, student)],
  ['sign-out ends the session everywhere', signOut],
]);
