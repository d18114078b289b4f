// Assertions on results of the official better-auth client, and the calls that the service rejects by design.
import { Api, assert, assertEqual } from './api.mjs';

/** Returns the data of a result. Fails for an error. */
export const dataOf = ({ data, error }, what) => {
  assert(!error, `${what}: ${JSON.stringify(error)}`);
  return data;
};

/** Requires an error with this status and code. */
export const expectError = ({ data, error }, status, code, what) => {
  assert(error, `${what} was not rejected: ${JSON.stringify(data)}`);
  assertEqual([error.status, error.code], [status, code], what);
  assert(code === undefined || typeof error.message === 'string', `${what}: an error needs a message`);
};

/** Returns the session as the database contains it, bypassing the cookie cache. */
export const storedSession = async (user) => {
  const result = dataOf(
    await user.auth.getSession({ query: { disableCookieCache: true } }),
    'get-session without cookie cache',
  );
  return result?.session ?? null;
};

export async function checkManagementRejected(world, teacher, school) {
  const { organization, admin } = teacher.auth;
  const status = async (call, what, wanted = 403) => assertEqual((await call).error?.status, wanted, what);
  await status(organization.create({ name: 'Own school', slug: 'own-school' }), 'organization/create');
  await status(organization.update({ data: { name: 'Renamed' } }), 'organization/update');
  await status(organization.delete({ organizationId: school.id }), 'organization/delete');
  await status(organization.leave({ organizationId: school.id }), 'organization/leave');
  await status(
    organization.inviteMember({ email: 'new@school.example', role: 'teacher' }),
    'organization/invite-member',
  );
  await status(
    organization.removeMember({ memberIdOrEmail: world.people.students[0].email }),
    'organization/remove-member',
  );
  await status(admin.listUsers({ query: { limit: 1 } }), 'admin/list-users');
  await status(admin.setRole({ userId: teacher.user.id, role: 'SUPER_ADMIN' }), 'admin/set-role');
}

export async function checkSignUpRejected(world, visitor) {
  const fresh = { name: 'New', email: 'new@school.example', password: 'long-enough-1' };
  const failed = (result, what) => expectError(result, 422, 'FAILED_TO_CREATE_USER', what);
  failed(await visitor.auth.signUp.email(fresh), 'sign-up');
  failed(
    await visitor.auth.signUp.email({ ...fresh, email: world.people.teacher.email }),
    'sign-up with a known address',
  );
  failed(await visitor.auth.signUp.email({ ...fresh, password: 'short' }), 'sign-up with a short password');
  expectError(
    await visitor.auth.signUp.email({ name: 'New', password: 'x' }),
    400,
    'VALIDATION_ERROR',
    'sign-up without an address',
  );
  assertEqual(visitor.jar.cookies.size, 0, 'sign-up sets no cookie');
  expectError(await visitor.auth.signIn.email(fresh), 401, 'INVALID_EMAIL_OR_PASSWORD', 'sign-in after a sign-up');
}

export async function checkOrigins(world, student) {
  const cookies = { cookie: student.jar.header };
  const bare = new Api(`${world.baseUrl}/api`, 'a script with the cookies of a student');
  const signOut = (headers) => bare.call('POST', '/auth/sign-out', {}, { ...cookies, ...headers });
  (await signOut({ origin: 'https://evil.example' })).expect(403, 'INVALID_ORIGIN');
  (await signOut({ referer: 'https://evil.example/page' })).expect(403, 'INVALID_ORIGIN');
  (await signOut({})).expect(403, 'MISSING_OR_NULL_ORIGIN');
  (await signOut({ origin: 'null' })).expect(403, 'MISSING_OR_NULL_ORIGIN');
  assert(await storedSession(student), 'the student is still signed in');
  assertEqual((await bare.get('/auth/ok')).expect(200).body, { ok: true }, '/auth/ok');
  for (const [method, path] of [
    ['GET', '/auth/no-such-route'],
    ['GET', '/auth/sign-in/email'],
    ['PUT', '/auth/sign-out'],
  ]) {
    const response = (await bare.call(method, path, undefined, { origin: student.origin })).expect(404);
    assert(response.text === '', `${method} ${path} returns an empty body`, response);
  }
}
