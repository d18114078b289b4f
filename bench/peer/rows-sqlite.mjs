// Queries with better-sqlite3: every statement is prepared once; writes are durable before the response.
import Database from 'better-sqlite3'
import * as sql from './statements.mjs'

export function open(path) {
  const database = new Database(path)
  for (const pragma of [
    'journal_mode = WAL',
    'synchronous = FULL',
    'busy_timeout = 10000',
    'foreign_keys = ON',
    'mmap_size = 268435456',
    'cache_size = -8000',
  ]) {
    database.pragma(pragma)
  }
  const statements = Object.fromEntries(Object.entries(sql).map(([name, text]) => [name, database.prepare(text)]))
  const bound = (values) => Object.fromEntries(values.map((value, index) => [index + 1, value]))
  const all = (name, ...values) => statements[name].all(bound(values))
  const one = (name, ...values) => statements[name].get(bound(values))
  const run = (name, ...values) => statements[name].run(bound(values))
  // One snapshot for all rows of a response.
  const groups = database.transaction((organization, user, classId) => ({
    groups: all('GROUPS', organization, user, classId),
    members: all('MEMBERS', organization, classId),
    links: all('LINKS', organization, classId),
    files: all('FILES', organization, classId),
  }))
  const write = database.transaction((organization, user, message) => {
    if (!one('OWN_ROOM', organization, user, message.workRoomId, message.createdAt)) return null
    const seq = one('NEXT_SEQ', organization, message.workRoomId).last_message_seq
    run('MESSAGE', organization, message.id, message.workRoomId, seq, user, message.content, message.createdAt)
    run('COUNT_OWN', organization, message.workRoomId, user, message.createdAt)
    return { ...message, seq }
  })
  return {
    role: (organization, user) => one('ROLE', organization, user)?.role,
    ownClass: (organization, user, classId) => one('OWN_CLASS', organization, user, classId) !== undefined,
    groups: (organization, user, classId) => groups(organization, user, classId),
    logPage: (organization, [time, id], rows) => all('LOG_PAGE', organization, time, id, rows),
    write: (organization, user, message) => write.immediate(organization, user, message),
  }
}
