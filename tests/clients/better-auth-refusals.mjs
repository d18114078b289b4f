// Calls of the official client that are rejected on purpose, and checks of its results.
import { Api, must, same } from './api.mjs';

/** Returns the data of a result; an error fails the check. */
export const ok = ({ data, error }, what) => {
  must(!error, `${what}: ${JSON.stringify(error)}`);
  return data;
};

/** Requires that the call was rejected with this error. */
export const refused = ({ data, error }, status, code, what) => {
  must(error, `${what} was not refused: ${JSON.stringify(data)}`);
  same([error.status, error.code], [status, code], what);
  must(code === undefined || typeof error.message === 'string', `${what}: a refusal needs a message`);
};

/** Returns the session from the database, regardless of the cache cookie. */
export const stored = async (person) => {
  const answer = ok(
    await person.auth.getSession({ query: { disableCookieCache: true } }),
    'get-session from the store',
  );
  return answer?.session ?? null;
};

export async function managementIsElsewhere(here, teacher, school) {
  const { organization, admin } = teacher.auth;
  const status = async (call, what, wanted = 403) => same((await call).error?.status, wanted, what);
  await status(organization.create({ name: 'Own school', slug: 'own-school' }), 'organization/create');
  await status(organization.update({ data: { name: 'Renamed' } }), 'organization/update');
  await status(organization.delete({ organizationId: school.id }), 'organization/delete');
  await status(organization.leave({ organizationId: school.id }), 'organization/leave');
  await status(
    organization.inviteMember({ email: 'new@school.example', role: 'teacher' }),
    'organization/invite-member',
  );
  await status(
    organization.removeMember({ memberIdOrEmail: here.people.students[0].email }),
    'organization/remove-member',
  );
  await status(admin.listUsers({ query: { limit: 1 } }), 'admin/list-users');
  await status(admin.setRole({ userId: teacher.user.id, role: 'SUPER_ADMIN' }), 'admin/set-role');
}

export async function signUp(here, visitor) {
  const fresh = { name: 'New', email: 'new@school.example', password: 'long-enough-1' };
  const failed = (answer, what) => refused(answer, 422, 'FAILED_TO_CREATE_USER', what);
  failed(await visitor.auth.signUp.email(fresh), 'sign-up');
  failed(
    await visitor.auth.signUp.email({ ...fresh, email: here.people.teacher.email }),
    'sign-up with a known address',
  );
  failed(await visitor.auth.signUp.email({ ...fresh, password: 'short' }), 'sign-up with a short password');
  refused(
    await visitor.auth.signUp.email({ name: 'New', password: 'x' }),
    400,
    'VALIDATION_ERROR',
    'sign-up without an address',
  );
  same(visitor.jar.cookies.size, 0, 'sign-up sets no cookie');
  refused(await visitor.auth.signIn.email(fresh), 401, 'INVALID_EMAIL_OR_PASSWORD', 'sign-in after a sign-up');
}

export async function origins(here, student) {
  const cookies = { cookie: student.jar.header };
  const bare = new Api(`${here.baseUrl}/api`, 'a script with the cookies of a student');
  const signOut = (headers) => bare.call('POST', '/auth/sign-out', {}, { ...cookies, ...headers });
  (await signOut({ origin: 'https://evil.example' })).is(403, 'INVALID_ORIGIN');
  (await signOut({ referer: 'https://evil.example/page' })).is(403, 'INVALID_ORIGIN');
  (await signOut({})).is(403, 'MISSING_OR_NULL_ORIGIN');
  (await signOut({ origin: 'null' })).is(403, 'MISSING_OR_NULL_ORIGIN');
  must(await stored(student), 'none of them signed the student out');
  same((await bare.get('/auth/ok')).is(200).body, { ok: true }, '/auth/ok');
  for (const [method, path] of [
    ['GET', '/auth/no-such-route'],
    ['GET', '/auth/sign-in/email'],
    ['PUT', '/auth/sign-out'],
  ]) {
    const answer = (await bare.call(method, path, undefined, { origin: student.origin })).is(404);
    must(answer.text === '', `${method} ${path} answers an empty body`, answer);
  }
}
