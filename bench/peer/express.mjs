// Express 5 with Prisma 7 and better-auth, one process.
import { randomUUID } from 'node:crypto'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import express from 'express'
import { auth, seed } from './auth.mjs'
import { endWithParent, greet, settings } from './settings.mjs'
import { time } from './times.mjs'
import { cursor, event, message } from './views.mjs'

const prisma = await client()

async function client() {
  if (settings.postgres) {
    const { PrismaPg } = await import('@prisma/adapter-pg')
    const { PrismaClient } = (await import('./generated/postgresql/client/index.js')).default
    return new PrismaClient({ adapter: new PrismaPg({ connectionString: settings.postgres, max: 10 }) })
  }
  const { PrismaBetterSqlite3 } = await import('@prisma/adapter-better-sqlite3')
  const { PrismaClient } = (await import('./generated/sqlite/client/index.js')).default
  return new PrismaClient({ adapter: new PrismaBetterSqlite3({ url: `file:${settings.sqlite}` }) })
}

/** The session, and what its person is in its organization; otherwise the request ends here. */
async function caller(request, response, next) {
  const found = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (!found) return response.status(401).json({ code: 'UNAUTHENTICATED' })
  const organizationId = found.session.activeOrganizationId
  const member = await prisma.member.findUnique({
    where: { organizationId_userId: { organizationId, userId: found.user.id } },
    select: { role: true },
  })
  if (!member) return response.status(403).json({ code: 'NOT_A_MEMBER' })
  response.locals = { user: found.user, organizationId, role: member.role }
  next()
}

const app = express()
app.disable('x-powered-by')
app.set('etag', false)
// One log line per request, like the service.
app.use((request, response, next) => {
  const began = performance.now()
  response.on('finish', () => {
    const { method, path } = request
    const ms = performance.now() - began
    process.stderr.write(`${JSON.stringify({ method, path, status: response.statusCode, ms })}\n`)
  })
  next()
})
app.all('/api/auth/*splat', toNodeHandler(auth))
app.use(express.json())

app.get('/api/groups', caller, async (request, response) => {
  const { user, organizationId, role } = response.locals
  const { classId } = request.query
  const own = { OR: [{ teacherId: user.id }, { coTeachers: { some: { userId: user.id } } }] }
  const mine = await prisma.class.findFirst({
    where: { id: classId, organizationId, ...(role === 'admin' ? {} : own) },
    select: { id: true },
  })
  if (!mine || role === 'student') return response.status(404).json({ code: 'NOT_FOUND' })
  const groups = await prisma.group.findMany({
    where: { organizationId, classId },
    orderBy: [{ groupNumber: 'asc' }, { id: 'asc' }],
    include: {
      class: { select: { id: true, name: true } },
      course: true,
      subject: true,
      room: { include: { reads: { where: { userId: user.id } } } },
      members: { include: { user: true }, orderBy: [{ joinedAt: 'asc' }, { id: 'asc' }] },
      links: {
        include: { assignment: true },
        orderBy: [{ assignment: { deadline: 'asc' } }, { assignmentId: 'asc' }],
      },
      attachments: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
    },
  })
  const now = Date.now()
  response.json(groups.map((group) => groupView(group, now)))
})

app.get('/api/activity-logs', caller, async (request, response) => {
  const { organizationId, role } = response.locals
  if (role !== 'admin') return response.status(403).json({ code: 'FORBIDDEN_ROLE' })
  const limit = Number(request.query.limit ?? 50)
  const [at, id] = cursor.read(request.query.cursor)
  const createdAt = BigInt(at)
  const found = await prisma.activityLog.findMany({
    // The first bound selects the start in the index; the second one skips rows with the same time.
    where: { organizationId, createdAt: { lte: createdAt }, OR: [{ createdAt: { lt: createdAt } }, { id: { lt: id } }] },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit + 1,
  })
  const page = found.slice(0, limit)
  const last = page.at(-1)
  response.json({
    data: page.map((record) => ({
      ...record,
      event: event(record.category, record.action),
      details: JSON.parse(record.details),
      createdAt: time(record.createdAt),
    })),
    nextCursor: found.length > limit ? cursor.write({ created_at: last.createdAt, id: last.id }) : null,
  })
})

app.post('/api/workrooms/:room/messages', caller, async (request, response) => {
  const { user, organizationId } = response.locals
  const content = request.body?.content
  if (typeof content !== 'string' || content.trim() === '') {
    return response.status(400).json({ code: 'VALIDATION_ERROR' })
  }
  const [id, createdAt, workRoomId] = [randomUUID(), Date.now(), request.params.room]
  const seq = await prisma.$transaction(async (unit) => {
    const room = await unit.workRoom.findFirst({
      where: {
        id: workRoomId,
        organizationId,
        group: {
          class: { status: 'ACTIVE' },
          members: { some: { userId: user.id } },
          OR: [{ startDate: null }, { startDate: { lte: createdAt } }],
        },
      },
      select: { id: true },
    })
    if (!room) return null
    const { lastMessageSeq } = await unit.workRoom.update({
      where: { id: workRoomId },
      data: { lastMessageSeq: { increment: 1 } },
      select: { lastMessageSeq: true },
    })
    await unit.workRoomMessage.create({
      data: { organizationId, id, workRoomId, seq: lastMessageSeq, senderId: user.id, type: 'TEXT', content, createdAt },
    })
    await unit.workRoomRead.upsert({
      where: { workRoomId_userId: { workRoomId, userId: user.id } },
      create: { organizationId, workRoomId, userId: user.id, lastReadSeq: 0, ownAfter: 1, lastReadAt: createdAt },
      update: { ownAfter: { increment: 1 } },
    })
    return Number(lastMessageSeq)
  })
  if (seq === null) return response.status(404).json({ code: 'NOT_FOUND' })
  response.status(201).location(`/api/workrooms/${workRoomId}/messages/${id}`)
  response.json(message({ id, workRoomId, seq, content, createdAt }, user))
})

function groupView(group, now) {
  const { class: ofClass, course, subject, room, members, links, attachments, organizationId, ...fields } = group
  const [read] = room.reads
  return {
    ...fields,
    view: 'FULL',
    groupNumber: Number(group.groupNumber),
    startDate: time(group.startDate),
    requiredDocuments: Number(group.requiredDocuments),
    helpRequestedAt: time(group.helpRequestedAt),
    helpWithdrawnAt: time(group.helpWithdrawnAt),
    helpResolvedAt: time(group.helpResolvedAt),
    createdAt: time(group.createdAt),
    updatedAt: time(group.updatedAt),
    isHidden: group.startDate !== null && Number(group.startDate) > now,
    memberCount: members.length,
    workRoomId: room.id,
    class: ofClass,
    course,
    subject,
    members: members.map(({ user, ...member }) => ({
      ...member,
      joinedAt: time(member.joinedAt),
      user: { id: user.id, name: user.name, image: user.image, email: user.email },
    })),
    groupAssignments: links.map(linkView),
    attachments: attachments.map((file) => ({
      ...file,
      size: Number(file.size),
      createdAt: time(file.createdAt),
      url: `/api/groups/${group.id}/attachments/${file.id}/download`,
    })),
    unreadMessages: Number(room.lastMessageSeq) - (read ? Number(read.lastReadSeq + read.ownAfter) : 0),
  }
}

function linkView({ assignment, descriptionOverride, lateAllowedUntil, ...fields }) {
  // No document was submitted in the measured school; see README.md.
  return {
    ...fields,
    effectiveDescription: (!assignment.isShared && descriptionOverride) || assignment.description,
    ...(lateAllowedUntil === null ? {} : { lateAllowedUntil: time(lateAllowedUntil) }),
    assignment: {
      title: assignment.title,
      deadline: time(assignment.deadline),
      isShared: assignment.isShared,
      status: assignment.finishedAt === null ? 'ACTIVE' : 'FINISHED',
    },
  }
}

await seed()
endWithParent()
const server = app.listen(0, '127.0.0.1', () => greet(server.address(), [process.pid]))
