// The statements, one text for both databases. The session identifies the user; the role in the organization and access
// to the class or room are queried from the database, as in the service.

/** The role of a user in an organization. $1 organization, $2 user. */
export const ROLE = 'SELECT role FROM members WHERE organization_id = $1 AND user_id = $2'

/** A class that a teacher manages. $1 organization, $2 user, $3 class. */
export const OWN_CLASS = `SELECT k.id FROM classes k WHERE k.organization_id = $1 AND k.id = $3
  AND (k.teacher_id = $2 OR EXISTS (SELECT 1 FROM class_teachers t
    WHERE t.organization_id = $1 AND t.class_id = k.id AND t.user_id = $2))`

/** Its groups. $1 organization, $2 user, $3 class. */
export const GROUPS = `SELECT g.*, w.id AS work_room_id, k.name AS class_name, c.name AS course_name,
    c.subject_id AS course_subject_id, s.name AS subject_name,
    w.last_message_seq - COALESCE(r.last_read_seq + r.own_after, 0) AS unread
  FROM groups g
  JOIN classes k ON k.id = g.class_id
  JOIN work_rooms w ON w.group_id = g.id
  LEFT JOIN work_room_reads r ON r.work_room_id = w.id AND r.user_id = $2
  LEFT JOIN courses c ON c.id = g.course_id
  LEFT JOIN subjects s ON s.id = g.subject_id
  WHERE g.organization_id = $1 AND g.class_id = $3
  ORDER BY g.group_number, g.id`

/** Their members. $1 organization, $2 class. */
export const MEMBERS = `SELECT m.group_id, m.id, m.role, m.joined_at, u.id AS user_id, u.name, u.image, u.email
  FROM groups g JOIN group_members m ON m.group_id = g.id JOIN users u ON u.id = m.user_id
  WHERE g.organization_id = $1 AND g.class_id = $2
  ORDER BY m.joined_at, m.id`

/** Their topics. $1 organization, $2 class. */
export const LINKS = `SELECT l.id, l.assignment_id, l.group_id, l.status, l.current_submission_id, l.description_override,
    l.late_allowed_until, a.title, a.description, a.deadline, a.is_shared, a.finished_at
  FROM groups g JOIN group_assignments l ON l.group_id = g.id JOIN assignments a ON a.id = l.assignment_id
  WHERE g.organization_id = $1 AND g.class_id = $2
  ORDER BY a.deadline, a.id`

/** Their own files. $1 organization, $2 class. */
export const FILES = `SELECT f.* FROM groups g JOIN group_attachments f ON f.group_id = g.id
  WHERE g.organization_id = $1 AND g.class_id = $2
  ORDER BY f.created_at, f.id`

/** A page of the log. $1 organization, $2 time and $3 id of the row before it, $4 rows. */
export const LOG_PAGE = `SELECT id, organization_id, user_id, user_name, user_role, category, action, entity_type, entity_id,
    entity_name, class_id, course_id, group_id, assignment_id, details, request_id, created_at
  FROM activity_logs
  WHERE organization_id = $1 AND (created_at, id) < ($2, $3)
  ORDER BY created_at DESC, id DESC LIMIT $4`

/** A room of a student's group in a class that goes on. $1 organization, $2 user, $3 room, $4 now. */
export const OWN_ROOM = `SELECT w.id FROM work_rooms w JOIN groups g ON g.id = w.group_id JOIN classes k ON k.id = g.class_id
  JOIN group_members m ON m.group_id = g.id AND m.user_id = $2
  WHERE w.organization_id = $1 AND w.id = $3 AND k.status = 'ACTIVE' AND (g.start_date IS NULL OR g.start_date <= $4)`

/** The place of the next message. $1 organization, $2 room. */
export const NEXT_SEQ = `UPDATE work_rooms SET last_message_seq = last_message_seq + 1 WHERE organization_id = $1 AND id = $2
  RETURNING last_message_seq`

/** The message. $1 organization, $2 id, $3 room, $4 place, $5 user, $6 text, $7 now. */
export const MESSAGE = `INSERT INTO work_room_messages (organization_id, id, work_room_id, seq, sender_id, type, content, created_at)
  VALUES ($1, $2, $3, $4, $5, 'TEXT', $6, $7)`

/** One more that its author need not read. $1 organization, $2 room, $3 user, $4 now. */
export const COUNT_OWN = `INSERT INTO work_room_reads (organization_id, work_room_id, user_id, last_read_seq, own_after, last_read_at)
  VALUES ($1, $2, $3, 0, 1, $4)
  ON CONFLICT (work_room_id, user_id) DO UPDATE SET own_after = work_room_reads.own_after + 1`
