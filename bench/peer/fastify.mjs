// Fastify 5 with better-sqlite3 or pg, and better-auth: one process, or several that share the port.
import cluster from 'node:cluster'
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { auth, seed } from './auth.mjs'
import { endWithParent, greet, settings } from './settings.mjs'
import * as views from './views.mjs'

if (settings.workers > 1 && cluster.isPrimary) {
  await seed()
  endWithParent()
  const workers = Array.from({ length: settings.workers }, () => cluster.fork())
  let listening = 0
  cluster.on('listening', (_, address) => {
    listening += 1
    if (listening === workers.length) greet(address, [process.pid, ...workers.map((worker) => worker.process.pid)])
  })
} else {
  if (cluster.isPrimary) {
    await seed()
    endWithParent()
  }
  await serve()
}

async function serve() {
  const { open } = await import(settings.postgres ? './rows-postgres.mjs' : './rows-sqlite.mjs')
  const rows = open(settings.postgres ?? settings.sqlite)
  // One log line per request, like the service.
  const app = Fastify({ logger: { level: 'info', stream: process.stderr }, disableRequestLogging: true })
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request
    request.log.info({ method, route: routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime }, 'answered')
  })

  /** The session, and what its person is in its organization; otherwise the request ends here. */
  const caller = async (request, reply) => {
    const found = await auth.api.getSession({ headers: new Headers({ cookie: request.headers.cookie ?? '' }) })
    if (!found) return reply.code(401).send({ code: 'UNAUTHENTICATED' })
    const organization = found.session.activeOrganizationId
    const role = await rows.role(organization, found.user.id)
    if (!role) return reply.code(403).send({ code: 'NOT_A_MEMBER' })
    request.caller = { user: found.user, organization, role }
  }
  app.decorateRequest('caller', null)

  app.get('/nothing', async () => ({}))
  app.get('/session-check', async (request, reply) => {
    const found = await auth.api.getSession({ headers: new Headers({ cookie: request.headers.cookie ?? '' }) })
    return found ? {} : reply.code(401).send({ code: 'UNAUTHENTICATED' })
  })
  app.get('/api/auth/get-session', async (request, reply) => {
    const headers = new Headers({ cookie: request.headers.cookie ?? '' })
    const answer = await auth.api.getSession({ headers, asResponse: true })
    for (const cookie of answer.headers.getSetCookie()) reply.header('set-cookie', cookie)
    return answer.json()
  })
  app.get('/api/groups', { preHandler: caller }, async (request, reply) => {
    const { user, organization, role } = request.caller
    const { classId } = request.query
    const isOwn = role === 'admin' || (role === 'teacher' && (await rows.ownClass(organization, user.id, classId)))
    if (!isOwn) return reply.code(404).send({ code: 'NOT_FOUND' })
    return views.groups(await rows.groups(organization, user.id, classId), Date.now())
  })
  app.get('/api/activity-logs', { preHandler: caller }, async (request, reply) => {
    const { organization, role } = request.caller
    if (role !== 'admin') return reply.code(403).send({ code: 'FORBIDDEN_ROLE' })
    const limit = Number(request.query.limit ?? 50)
    const found = await rows.logPage(organization, views.cursor.read(request.query.cursor), limit + 1)
    const page = found.slice(0, limit)
    return { data: page.map(views.record), nextCursor: found.length > limit ? views.cursor.write(page.at(-1)) : null }
  })
  app.post('/api/workrooms/:room/messages', { preHandler: caller }, async (request, reply) => {
    const { user, organization } = request.caller
    const content = request.body?.content
    if (typeof content !== 'string' || content.trim() === '') return reply.code(400).send({ code: 'VALIDATION_ERROR' })
    const message = { id: randomUUID(), workRoomId: request.params.room, content, createdAt: Date.now() }
    const written = await rows.write(organization, user.id, message)
    if (!written) return reply.code(404).send({ code: 'NOT_FOUND' })
    reply.code(201).header('location', `/api/workrooms/${written.workRoomId}/messages/${written.id}`)
    return views.message(written, user)
  })

  await app.listen({ port: 0, host: '127.0.0.1' })
  if (cluster.isPrimary) greet(app.server.address(), [process.pid])
}
