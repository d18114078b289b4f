// Every call of the official better-auth client that the service supports as the library does, and its error cases. Where
// the service is stricter on purpose (a revocation takes effect at once), the stricter behavior is required.
import { Api, eventually, must, same, sorted, tell, world } from './api.mjs';
import { managementIsElsewhere, ok, origins, refused, signUp, stored } from './better-auth-refusals.mjs';
import { Person } from './session.mjs';
import { Ear } from './socket.mjs';

const here = world();
const { teacher: teacherLogin, students, stranger: strangerLogin } = here.people;
const visitor = new Person(here, 'a visitor');
const teacher = new Person(here, 'the teacher');
const elsewhere = new Person(here, 'the teacher on another computer');
const student = new Person(here, 'a student');
let school;
let otherSchool;

async function wrongSignIns() {
  const email = 'nobody@nowhere.example';
  refused(
    await visitor.auth.signIn.email({ email, password: 'wrong-password' }),
    401,
    'INVALID_EMAIL_OR_PASSWORD',
    'an unknown address',
  );
  const wrong = { email: teacherLogin.email, password: `${teacherLogin.password}!` };
  refused(await visitor.auth.signIn.email(wrong), 401, 'INVALID_EMAIL_OR_PASSWORD', 'a wrong password');
  refused(
    await visitor.auth.signIn.email({ email: 'no address', password: 'x' }),
    400,
    'INVALID_EMAIL',
    'not an address',
  );
  refused(await visitor.auth.signIn.email({ email }), 400, 'VALIDATION_ERROR', 'no password');
  const long = { email: teacherLogin.email, password: 'x'.repeat(129) };
  refused(await visitor.auth.signIn.email(long), 400, 'PASSWORD_TOO_LONG', 'a password of 129 characters');
  same(visitor.jar.cookies.size, 0, 'a refused sign-in sets no cookie');
  same(ok(await visitor.auth.getSession(), 'get-session of a visitor'), null, 'the session of a visitor');
}

async function signIn() {
  const capitals = { ...teacherLogin, email: teacherLogin.email.toUpperCase() };
  const data = ok(await teacher.auth.signIn.email(capitals), 'sign-in with an address in capitals');
  teacher.user = data.user;
  same([data.redirect, data.user.email], [false, teacherLogin.email.toLowerCase()], 'the answer of sign-in');
  must(!JSON.stringify(data).includes('password'), 'the answer of sign-in must not speak of passwords');
  const cookie = (name) => [...teacher.jar.cookies].find(([full]) => full.endsWith(`better-auth.${name}`))?.[1];
  for (const [name, age] of [
    ['session_token', 86_400],
    ['session_data', 300],
  ]) {
    must(cookie(name), `sign-in sets the cookie ${name}`);
    const attributes = cookie(name).attributes.map((attribute) => attribute.toLowerCase());
    for (const wanted of [`max-age=${age}`, 'path=/', 'httponly', 'samesite=lax']) {
      must(attributes.includes(wanted), `the cookie ${name} lacks ${wanted}: ${attributes}`);
    }
  }
  const value = decodeURIComponent(cookie('session_token').value);
  same(value.slice(0, value.lastIndexOf('.')), data.token, 'the signed value of the cookie');
}

async function getSession() {
  const { session, user } = ok(await teacher.auth.getSession(), 'get-session');
  same(session.activeOrganizationId, null, 'the organization right after sign-in');
  same([session.userId, user.id], [teacher.user.id, teacher.user.id], 'whose session it is');
  for (const date of [session.createdAt, session.updatedAt, session.expiresAt, user.createdAt]) {
    must(date instanceof Date, `the client revives dates, but this stayed ${JSON.stringify(date)}`);
  }
  const hours = (session.expiresAt - Date.now()) / 3_600_000;
  must(hours > 23.9 && hours <= 24, `the session ends in ${hours} hours instead of 24`);
  same((await stored(teacher)).token, session.token, 'the token from the store');
  (await teacher.api.get('/classes')).is(400, 'NO_ACTIVE_ORGANIZATION');
}

async function setActive() {
  const list = ok(await teacher.auth.organization.list(), 'organization/list');
  must(list.length > 0, 'the teacher is a member of a school');
  [school] = list;
  must(
    school.id && school.name && school.slug && 'logo' in school && 'metadata' in school,
    `an organization: ${JSON.stringify(school)}`,
  );
  const stranger = await new Person(here, 'the stranger').signIn(strangerLogin);
  [otherSchool] = ok(await stranger.auth.organization.list(), "the stranger's organizations");
  must(otherSchool.id !== school.id, 'the stranger belongs to another school');

  const active = async () => ok(await teacher.auth.getSession(), 'get-session').session.activeOrganizationId;
  const { organization } = teacher.auth;
  same(
    ok(await organization.setActive({ organizationId: school.id }), 'set-active by id').id,
    school.id,
    'the active one',
  );
  same(await active(), school.id, 'the organization that the next get-session shows');
  same(ok(await organization.setActive({ organizationId: null }), 'set-active to none'), null, 'none');
  same(await active(), null, 'no organization any more');
  same(
    ok(await organization.setActive({ organizationSlug: school.slug }), 'set-active by slug').id,
    school.id,
    'by slug',
  );
  refused(
    await organization.setActive({ organizationSlug: 'no-such-school' }),
    400,
    'ORGANIZATION_NOT_FOUND',
    'an unknown slug',
  );
  same((await stored(teacher)).activeOrganizationId, school.id, 'an unknown slug changes nothing');

  const foreign = 'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION';
  refused(await organization.setActive({ organizationId: otherSchool.id }), 403, foreign, 'the other school');
  same((await stored(teacher)).activeOrganizationId, null, 'the organization after a refused one');
  refused(await organization.setActive({ organizationId: 'unknown' }), 403, foreign, 'an unknown school');
  refused(await visitor.auth.organization.setActive({ organizationId: school.id }), 401, 'UNAUTHORIZED', 'a visitor');
  await teacher.enter(school.id);
}

async function readOrganization() {
  const { organization } = teacher.auth;
  const whole = ok(await organization.getFullOrganization(), 'get-full-organization');
  same(whole.id, school.id, 'the active organization');
  must(Array.isArray(whole.invitations), 'invitations is a list');
  const own = whole.members.find((member) => member.userId === teacher.user.id);
  must(
    own?.user?.email === teacher.user.email && own.organizationId === school.id,
    `the own member row: ${JSON.stringify(own)}`,
  );
  for (const query of [{ organizationId: school.id }, { organizationSlug: school.slug }]) {
    same(
      ok(await organization.getFullOrganization({ query }), JSON.stringify(query)).id,
      school.id,
      JSON.stringify(query),
    );
  }
  const { invitations: _invitations, members: _members, ...plain } = whole;
  same(ok(await organization.getOrganization(), 'get-organization'), plain, 'the active organization alone');
  const bySlug = { query: { organizationSlug: school.slug } };
  same(ok(await organization.getOrganization(bySlug), 'get-organization by slug').id, school.id, 'by short name');
  refused(
    await organization.getOrganization({ query: { organizationId: otherSchool.id } }),
    403,
    'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
    "another school's organization alone",
  );
  await teacher.enter(school.id);
  refused(
    await teacher.auth.updateSession({ activeOrganizationId: otherSchool.id }),
    400,
    'FIELD_NOT_ALLOWED',
    'another organization through update-session',
  );
  refused(await teacher.auth.updateSession({ theme: 'dark' }), 400, 'BAD_REQUEST', 'a field that sessions do not have');
  const unchanged = ok(await teacher.auth.getSession(), 'get-session after update-session');
  same(unchanged.session.activeOrganizationId, school.id, 'the organization after update-session');
  const member = ok(await organization.getActiveMember(), 'get-active-member');
  same([member.id, member.userId, member.role], [own.id, own.userId, own.role], 'the active member');
  same(member.user.email, teacher.user.email, 'the user in the active member');
  same(ok(await organization.getActiveMemberRole(), 'get-active-member-role'), { role: own.role }, 'the active role');
  const page = ok(await organization.listMembers({ query: { limit: 1 } }), 'list-members');
  same(page.members.length, 1, 'a page of one member');
  must(page.total >= 2, `the total counts everybody: ${page.total}`);
  const theirs = { query: { organizationId: otherSchool.id } };
  refused(
    await organization.getFullOrganization(theirs),
    403,
    'USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION',
    "another school's organization",
  );
  await teacher.enter(school.id);

  await student.signIn(students[0]);
  refused(
    await student.auth.organization.getActiveMember(),
    400,
    'NO_ACTIVE_ORGANIZATION',
    'a member of no active organization',
  );
  refused(
    await student.auth.organization.getActiveMemberRole(),
    400,
    'NO_ACTIVE_ORGANIZATION',
    'a role in no active organization',
  );
  same(ok(await student.auth.organization.getFullOrganization(), 'no organization'), null, 'no active organization');
  await student.enter(school.id);
  const seen = ok(await student.auth.organization.getFullOrganization(), 'get-full-organization of a student');
  same(
    seen.members.map(({ userId }) => userId),
    [student.user.id],
    'a student sees the own member row alone',
  );
  const listed = ok(await student.auth.organization.listMembers({ query: {} }), 'list-members of a student');
  same(
    listed.members.map(({ userId }) => userId),
    [student.user.id],
    'a student lists the own member row alone',
  );
  same(
    ok(await student.auth.organization.getActiveMemberRole(), "a student's role"),
    { role: 'student' },
    "a student's role",
  );
}

async function revoke() {
  const tokens = async () => sorted(ok(await teacher.auth.listSessions(), 'list-sessions').map(({ token }) => token));
  const mine = (await stored(teacher)).token;
  await elsewhere.signIn(teacherLogin);
  await elsewhere.enter(school.id);
  const theirs = (await stored(elsewhere)).token;
  const listed = await tokens();
  must(listed.includes(mine) && listed.includes(theirs), 'list-sessions names both sessions');
  refused(await visitor.auth.listSessions(), 401, 'UNAUTHORIZED', 'list-sessions of a visitor');

  const ear = await Ear.open(elsewhere);
  same(
    ok(await student.auth.revokeSession({ token: theirs }), "a stranger's revoke-session"),
    { status: true },
    'the answer',
  );
  (await elsewhere.api.get('/classes')).is(200);
  same(ok(await teacher.auth.revokeSession({ token: theirs }), 'revoke-session'), { status: true }, 'revoke-session');
  (await elsewhere.api.get('/classes')).is(401, 'UNAUTHENTICATED');
  same(
    ok(await elsewhere.auth.getSession(), 'get-session after revocation'),
    null,
    'a revoked session, in spite of its cache cookie',
  );
  await ear.hears('session:revoked');
  await ear.hears('disconnect');
  must(!(await tokens()).includes(theirs), 'a revoked session is not listed');

  await elsewhere.signIn(teacherLogin);
  same(
    ok(await teacher.auth.revokeOtherSessions(), 'revoke-other-sessions'),
    { status: true },
    'revoke-other-sessions',
  );
  same(await tokens(), [mine], 'only the own session is left');
  same(ok(await elsewhere.auth.getSession(), 'get-session of the other'), null, 'the other session');
  same(ok(await teacher.auth.revokeSessions(), 'revoke-sessions'), { status: true }, 'revoke-sessions');
  same(ok(await teacher.auth.getSession(), 'get-session after revoke-sessions'), null, 'the own session');
  refused(await teacher.auth.listSessions(), 401, 'UNAUTHORIZED', 'list-sessions after revoke-sessions');
}

async function signOut() {
  const ear = await Ear.open(student);
  const old = { cookie: student.jar.header };
  same(ok(await student.auth.signOut(), 'sign-out'), { success: true }, 'sign-out');
  must(!student.jar.header.includes('session_token'), 'sign-out clears the cookies');
  const replay = new Api(`${here.baseUrl}/api`, 'somebody with the old cookies');
  same((await replay.call('GET', '/auth/get-session', undefined, old)).is(200).text, 'null', 'the old cookies');
  (await replay.call('GET', '/classes', undefined, old)).is(401, 'UNAUTHENTICATED');
  await ear.hears('session:revoked');
  await eventually(
    () => ear.socket.connected,
    (connected) => !connected,
    'the socket of a signed-out session ends',
  );
  same(ok(await student.auth.signOut(), 'sign-out twice'), { success: true }, 'sign-out twice');
}

await tell([
  ['a sign-in that is wrong is refused alike for everybody', wrongSignIns],
  ['sign-in sets the cookies of the library', signIn],
  ['get-session shows a session of 24 hours without an organization', getSession],
  ['set-active by id, by slug, to none, and never to a foreign school', setActive],
  ['the organization, its members and the own role', readOrganization],
  ['organizations and accounts are managed elsewhere', () => managementIsElsewhere(here, teacher, school)],
  ['a revoked session is dead at once', revoke],
  ['sign-up is always refused', () => signUp(here, visitor)],
  ['a foreign page cannot act, and unknown routes are empty', () => origins(here, student)],
  ['sign-out ends the session everywhere', signOut],
]);
