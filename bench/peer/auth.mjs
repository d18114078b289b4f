// better-auth as set up in its documentation, with the cookie cache enabled for longer than a measurement: after the
// first request the session is read from a signed cookie without a database query. Sessions are in a small separate
// database with the same tokens as those of the service, so the same cookie authenticates at both.
import { join } from 'node:path'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import Database from 'better-sqlite3'
import { settings } from './settings.mjs'

const database = new Database(join(settings.folder, 'auth.db'))
database.pragma('journal_mode = WAL')

const options = {
  database,
  secret: settings.secret,
  baseURL: 'http://127.0.0.1',
  telemetry: { enabled: false },
  rateLimit: { enabled: false },
  logger: { level: 'error' },
  session: {
    cookieCache: { enabled: true, maxAge: 3600 },
    additionalFields: { activeOrganizationId: { type: 'string', required: false } },
  },
}

export const auth = betterAuth(options)

/** Makes the tables and writes the people with their sessions. */
export async function seed() {
  const { runMigrations } = await getMigrations(options)
  await runMigrations()
  const context = await auth.$context
  const now = new Date()
  for (const { id, name, email, token, organizationId } of settings.people) {
    const user = { id, name, email, emailVerified: true, createdAt: now, updatedAt: now }
    await context.adapter.create({ model: 'user', data: user, forceAllowId: true })
    await context.adapter.create({
      model: 'session',
      data: {
        userId: id,
        token,
        expiresAt: new Date(now.getTime() + 86_400_000),
        createdAt: now,
        updatedAt: now,
        activeOrganizationId: organizationId,
      },
    })
  }
}
