// Queries with pg: a pool; every statement is named, so the server prepares it once per connection.
import pg from 'pg'
import * as sql from './statements.mjs'

// Integers here are times and counts, far below the largest exact number.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export function open(connectionString) {
  const pool = new pg.Pool({ connectionString, max: 10 })
  const ask = async (client, name, ...values) => (await client.query({ name, text: sql[name], values })).rows
  return {
    role: async (organization, user) => (await ask(pool, 'ROLE', organization, user))[0]?.role,
    ownClass: async (...values) => (await ask(pool, 'OWN_CLASS', ...values)).length > 0,
    async groups(organization, user, classId) {
      const [groups, members, links, files] = await Promise.all([
        ask(pool, 'GROUPS', organization, user, classId),
        ask(pool, 'MEMBERS', organization, classId),
        ask(pool, 'LINKS', organization, classId),
        ask(pool, 'FILES', organization, classId),
      ])
      return { groups, members, links, files }
    },
    logPage: (organization, [time, id], rows) => ask(pool, 'LOG_PAGE', organization, time, id, rows),
    async write(organization, user, message) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const room = await ask(client, 'OWN_ROOM', organization, user, message.workRoomId, message.createdAt)
        if (room.length === 0) {
          await client.query('ROLLBACK')
          return null
        }
        const [{ last_message_seq: seq }] = await ask(client, 'NEXT_SEQ', organization, message.workRoomId)
        await ask(
          client,
          'MESSAGE',
          organization,
          message.id,
          message.workRoomId,
          seq,
          user,
          message.content,
          message.createdAt,
        )
        await ask(client, 'COUNT_OWN', organization, message.workRoomId, user, message.createdAt)
        await client.query('COMMIT')
        return { ...message, seq }
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {})
        throw error
      } finally {
        client.release()
      }
    },
  }
}
