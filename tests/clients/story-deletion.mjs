// Steps seven and eight of the lesson: reading the activity log, and deleting the course.
import { readdirSync } from 'node:fs';
import { waitUntil, assert, assertEqual, sorted } from './api.mjs';
import { documentPath } from './editor.mjs';

const EXPECTED_RECORDS = {
  COURSE_CREATE: 1,
  GROUP_CREATE: 2,
  ASSIGNMENT_CREATE: 1,
  HELP_REQUESTED: 1,
  HELP_RESOLVED: 1,
  SUBMIT: 2,
  UNSUBMIT: 1,
  FINISH: 1,
  REOPEN: 1,
};

export async function readLog(lesson) {
  const { teacher, admin, students, stranger, course, visible, hidden, topic, page, notes } = lesson;
  const log = (user, query) => user.api.get(`/activity-logs?${query}`);
  for (const user of [teacher, admin]) {
    const whole = (await log(user, `classId=${lesson.class.id}&limit=200`)).expect(200);
    for (const [name, count] of Object.entries(EXPECTED_RECORDS)) {
      assertEqual(
        whole.body.data.filter(({ event, action }) => event === name || action === name).length,
        count,
        `${name} in the log of ${user.label}`,
        whole,
      );
    }
    const times = whole.body.data.map(({ createdAt }) => createdAt);
    assertEqual(times, sorted(times).reverse(), 'newest first', whole);
    const help = whole.body.data.find(({ action }) => action === 'HELP_REQUESTED');
    assertEqual(
      [help.category, help.groupId, help.userId],
      ['GROUP', visible.id, students[0].user.id],
      'the user who requested help',
      whole,
    );
  }
  const whole = (await log(teacher, `classId=${lesson.class.id}`)).expect(200).body.data.map(({ id }) => id);
  const paged = [];
  for (let cursor = ''; cursor !== null;) {
    const part = (
      await log(teacher, `classId=${lesson.class.id}&limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    ).expect(200).body;
    paged.push(...part.data.map(({ id }) => id));
    cursor = part.nextCursor;
  }
  assertEqual(paged.slice(0, whole.length), whole, 'the pages contain the same records as one page');
  // The subject belongs to the school, not to a class.
  const ofSubject = ({ entityId }) => entityId === lesson.subject.id;
  assertEqual(
    (await log(admin, 'category=SUBJECT&limit=200')).expect(200).body.data.filter(ofSubject).length,
    1,
    'the subject in the log of the admin',
  );
  const own = (await log(teacher, 'limit=200')).expect(200);
  assert(!own.body.data.some(({ classId }) => classId === null), 'a teacher reads the log of own classes only', own);
  (await log(students[0], '')).expect(403, 'FORBIDDEN_ROLE');

  assertEqual(
    (await log(stranger, `classId=${lesson.class.id}`)).expect(200).body.data,
    [],
    "another school's class in the log of a stranger",
  );
  const ids = [course.id, visible.id, hidden.id, topic.id, page.id, notes.id, visible.workRoomId];
  (await log(stranger, 'limit=200')).expect(200).expectWithout(lesson.class.id, ...ids);
  const hiddenPaths = ['', '/editor-config', '/download', '/pdf', '/versions'].map((rest) => documentPath(page.id, rest));
  hiddenPaths.push(
    `/courses/${course.id}`,
    `/groups/${visible.id}`,
    `/assignments/${topic.id}`,
    `/assignments/${topic.id}/attachments`,
  );
  hiddenPaths.push(
    `/workrooms/${visible.workRoomId}`,
    `/workrooms/group/${visible.id}`,
    `/workrooms/${visible.workRoomId}/documents`,
  );
  hiddenPaths.push(
    `/classes/${lesson.class.id}`,
    `/classes/${lesson.class.id}/students`,
    lesson.files.shared.url.replace(/^\/api/, ''),
  );
  for (const path of hiddenPaths) (await stranger.api.get(path)).expect(404).expectWithout(...ids);
  const forbiddenRequests = [
    [`/assignments/${topic.id}/finish`],
    [`/groups/${visible.id}/help/resolve`, {}],
    [documentPath(page.id, '/unsubmit'), {}],
    ['/courses', { name: 'Mine', classId: lesson.class.id, subjectId: lesson.subject.id }],
    ['/groups', { classId: lesson.class.id }],
  ];
  for (const [path, body] of forbiddenRequests) (await stranger.api.post(path, body)).expect(404);
  (await stranger.api.delete(`/courses/${course.id}`)).expect(404);
  for (const path of ['/courses', '/groups', '/assignments', '/classes', '/workrooms'])
    (await stranger.api.get(path)).expect(200).expectWithout(...ids, lesson.class.id);
  lesson.listeners.stranger.expectOnly('ready');
}

export async function deleteCourse(lesson) {
  const {
    teacher,
    admin,
    students: [ben],
    listeners,
    course,
    visible,
    hidden,
    topic,
    page,
    notes,
  } = lesson;
  (await ben.api.delete(`/courses/${course.id}`)).expect(403, 'FORBIDDEN_ROLE');
  const gone = (await teacher.api.delete(`/courses/${course.id}`)).expect(200);
  const { deletedGroups, deletedAssignments, deletionId, restorableUntil, ...counts } = gone.body;
  assertEqual(typeof restorableUntil, typeof deletionId, 'what can be undone has an end', gone);
  const expected = [sorted([visible.id, hidden.id]), [topic.id]];
  assertEqual([sorted(deletedGroups), deletedAssignments], expected, 'the deleted groups and topics', gone);
  assertEqual(counts, { success: true, deletedDocuments: 2, deletedSubmissions: 2 }, 'the deleted numbers', gone);
  // Where deleted objects are kept, their files go when they are deleted for good.
  if (deletionId) (await teacher.api.delete(`/deletions/${deletionId}`)).expect(200);
  const deleted = await listeners.students[0].waitFor('group:deleted', { where: ({ groupId }) => groupId === visible.id });
  assertEqual(deleted.reason, 'COURSE_DELETED', 'the reason of group:deleted');
  assertEqual((await listeners.admin.waitFor('course:deleted')).courseId, course.id, 'course:deleted');

  const paths = [`/courses/${course.id}`, `/groups/${visible.id}`, `/groups/${hidden.id}`, `/assignments/${topic.id}`];
  paths.push(`/workrooms/${visible.workRoomId}`, documentPath(page.id), documentPath(notes.id, '/download'));
  for (const { api } of [teacher, admin]) for (const path of paths) (await api.get(path)).expect(404);
  for (const path of ['courses', 'groups', 'assignments'])
    assertEqual((await teacher.api.get(`/${path}?classId=${lesson.class.id}`)).expect(200).body, [], path);
  const log = (await admin.api.get(`/activity-logs?classId=${lesson.class.id}&action=COURSE_DELETE`)).expect(200);
  assertEqual(log.body.data.length, 1, 'COURSE_DELETE in the log', log);
  const [{ category, event, details, entityId }] = log.body.data;
  assertEqual(
    [category, event, entityId, details.courseName],
    ['COURSE', 'COURSE_DELETE', course.id, course.name],
    'the record',
    log,
  );
  assertEqual(sorted(details.deletedGroups.map(({ id }) => id)), sorted([visible.id, hidden.id]), 'the groups it names', log);
  assertEqual(details.deletedAssignments, [{ id: topic.id, title: topic.title }], 'the topics it names', log);
  if (lesson.world.dataDir) {
    const left = () =>
      readdirSync(lesson.world.dataDir, { recursive: true }).filter((name) =>
        [page.id, notes.id].some((id) => name.includes(id)),
      );
    await waitUntil(left, (names) => names.length === 0, 'the files are removed from the disk');
  }
  // Checks all events of the lesson.
  listeners.students.forEach((listener) => listener.expectNeverReceived(hidden.id, hidden.workRoomId, lesson.files.other.id));
  listeners.students[3].expectNeverReceived(visible.id, topic.id, page.id);
  listeners.stranger.expectOnly('ready');
  Object.values(listeners)
    .flat()
    .forEach((listener) => listener.close());
}
