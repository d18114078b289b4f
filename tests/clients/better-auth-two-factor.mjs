// Every call of the official two-factor client: setting up an authenticator app, the second step of a sign-in, recovery
// codes, and browsers that are trusted for a while. It fails four times within a minute, one less than the limit.
import { createHmac } from 'node:crypto';
import { assert, assertEqual, runSteps, readWorld } from './api.mjs';
import { dataOf, expectError, storedSession } from './better-auth-checks.mjs';
import { User } from './session.mjs';

const world = readWorld();
const login = world.people.students[1];
const { password } = login;
const student = new User(world, 'the student');
const phone = new User(world, 'the student at another device');
const library = new User(world, 'the student in the library');
const METHODS = ['totp'];
let secret;
let recoveryCodes;

/** Decodes base32 without padding. */
function decodeBase32(text) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
}

/** Returns the code of an authenticator app (RFC 6238), some steps from now. */
function code(steps = 0) {
  const counter = Buffer.alloc(8);
  counter.writeBigInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const digest = createHmac('sha1', secret).update(counter).digest();
  const word = digest.readUInt32BE(digest[19] & 15) & 0x7fffffff;
  return String(word % 1_000_000).padStart(6, '0');
}

/** Returns a code that is not accepted: no app shows it within two steps from now. */
function wrongCode() {
  const shown = [-2, -1, 0, 1, 2].map((steps) => code(steps));
  for (let number = 0; ; number += 1) {
    const wrong = String(number).padStart(6, '0');
    if (!shown.includes(wrong)) return wrong;
  }
}

async function setUp() {
  const { twoFactor } = student.auth;
  await student.signIn(login);
  expectError(await twoFactor.enable({ password: 'a wrong password' }), 400, 'INVALID_PASSWORD', 'a wrong password');
  expectError(await twoFactor.enable({ password, method: 'otp' }), 400, 'OTP_NOT_CONFIGURED', 'codes by email');
  expectError(await twoFactor.getTotpUri({ password }), 400, 'TOTP_NOT_ENABLED', 'no secret yet');
  expectError(await twoFactor.generateBackupCodes({ password }), 400, 'TWO_FACTOR_NOT_ENABLED', 'no recovery codes yet');
  const made = dataOf(await twoFactor.enable({ password }), 'enable');
  const uri = new URL(made.totpURI);
  assertEqual([made.method, uri.protocol, uri.searchParams.get('period')], ['totp', 'otpauth:', '30'], 'the secret');
  secret = decodeBase32(uri.searchParams.get('secret'));
  recoveryCodes = made.backupCodes;
  assertEqual(recoveryCodes.length, 10, 'the recovery codes');
  assertEqual(dataOf(await twoFactor.getTotpUri({ password }), 'get-totp-uri').totpURI, made.totpURI, 'the same secret');
  expectError(await twoFactor.verifyTotp({ code: wrongCode() }), 401, 'INVALID_CODE', 'a wrong code');
  const confirmed = dataOf(await twoFactor.verifyTotp({ code: code() }), 'verify-totp');
  assertEqual(confirmed.token, (await storedSession(student)).token, 'the session continues');
  const { user } = dataOf(await student.auth.getSession(), 'get-session');
  assertEqual(user.twoFactorEnabled, true, 'the user has a second factor');
  expectError(await twoFactor.enable({ password }), 400, 'TOTP_ALREADY_ENABLED', 'setting up twice');
}

/** Enters email address and password; the sign-in then waits for a code. */
async function begin(user) {
  user.secondStep = undefined;
  const data = dataOf(await user.auth.signIn.email(login), 'sign-in/email');
  assertEqual(data, { twoFactorRedirect: true, twoFactorMethods: METHODS }, 'the first step');
  assertEqual(user.secondStep, METHODS, 'the client was told to ask for a code');
  assertEqual(dataOf(await user.auth.getSession(), 'get-session'), null, 'no session before the second step');
}

async function signInWithCode() {
  const { twoFactor } = phone.auth;
  expectError(await twoFactor.verifyTotp({ code: code() }), 401, 'INVALID_TWO_FACTOR_COOKIE', 'no first step');
  await begin(phone);
  expectError(await twoFactor.sendOtp(), 400, 'OTP_NOT_CONFIGURED', 'send-otp');
  expectError(await twoFactor.verifyOtp({ code: '123456' }), 400, 'OTP_HAS_EXPIRED', 'verify-otp');
  // Newer than the code of the setup, and valid for at least 30 seconds.
  const used = code(1);
  const verified = dataOf(await twoFactor.verifyTotp({ code: used, trustDevice: true }), 'verify-totp');
  assertEqual([verified.user.email, verified.user.twoFactorEnabled], [login.email, true], 'the user');
  assert(verified.user.createdAt instanceof Date, 'the client revives dates');
  assertEqual((await storedSession(phone)).token, verified.token, 'the session');
  await begin(library);
  expectError(await library.auth.twoFactor.verifyTotp({ code: used }), 401, 'INVALID_CODE', 'a used code');
}

async function trustedBrowser() {
  dataOf(await phone.auth.signOut(), 'sign-out');
  await phone.signIn(login);
  assert(await storedSession(phone), 'a trusted browser needs no code');
}

async function recover() {
  const { twoFactor } = library.auth;
  const [first, second] = recoveryCodes;
  await begin(library);
  const verified = dataOf(await twoFactor.verifyBackupCode({ code: first }), 'verify-backup-code');
  assertEqual((await storedSession(library)).token, verified.token, 'the session');
  await begin(library);
  expectError(await twoFactor.verifyBackupCode({ code: first }), 401, 'INVALID_BACKUP_CODE', 'a used recovery code');
  dataOf(await twoFactor.verifyBackupCode({ code: second }), 'verify-backup-code');
  const renewed = dataOf(await twoFactor.generateBackupCodes({ password }), 'generate-backup-codes');
  assertEqual([renewed.status, renewed.backupCodes.length], [true, 10], 'new recovery codes');
}

async function disable() {
  const { twoFactor } = phone.auth;
  assertEqual(dataOf(await twoFactor.disable({ password }), 'disable'), { status: true }, 'the response');
  const { user } = dataOf(await phone.auth.getSession(), 'get-session');
  assertEqual(user.twoFactorEnabled, false, 'the user has no second factor');
  const { token } = dataOf(await library.auth.signIn.email(login), 'sign-in without a second step');
  assert(token, 'a session');
}

await runSteps([
  ['an authenticator app is set up with password and first code', setUp],
  ['a sign-in waits for a code', signInWithCode],
  ['a trusted browser needs no code', trustedBrowser],
  ['recovery codes are used once and replaced', recover],
  ['the second factor is removed with the password', disable],
]);
