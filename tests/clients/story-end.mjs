// Steps seven and eight of the story: who reads which log entries, and the deletion of the course.
import { readdirSync } from 'node:fs';
import { eventually, must, same, sorted } from './api.mjs';
import { document } from './editor.mjs';

const TALE = {
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
  const log = (person, query) => person.api.get(`/activity-logs?${query}`);
  for (const person of [teacher, admin]) {
    const whole = (await log(person, `classId=${lesson.class.id}&limit=200`)).is(200);
    for (const [name, count] of Object.entries(TALE)) {
      same(
        whole.body.data.filter(({ event, action }) => event === name || action === name).length,
        count,
        `${name} in the log of ${person.who}`,
        whole,
      );
    }
    const times = whole.body.data.map(({ createdAt }) => createdAt);
    same(times, sorted(times).reverse(), 'newest first', whole);
    const help = whole.body.data.find(({ action }) => action === 'HELP_REQUESTED');
    same(
      [help.category, help.groupId, help.userId],
      ['GROUP', visible.id, students[0].user.id],
      'who asked for help',
      whole,
    );
  }
  const whole = (await log(teacher, `classId=${lesson.class.id}`)).is(200).body.data.map(({ id }) => id);
  const walked = [];
  for (let cursor = ''; cursor !== null;) {
    const part = (
      await log(teacher, `classId=${lesson.class.id}&limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    ).is(200).body;
    walked.push(...part.data.map(({ id }) => id));
    cursor = part.nextCursor;
  }
  same(walked.slice(0, whole.length), whole, 'page by page is the same as in one');
  // The subject belongs to the school, not to a class.
  const ofSubject = ({ entityId }) => entityId === lesson.subject.id;
  same(
    (await log(admin, 'category=SUBJECT&limit=200')).is(200).body.data.filter(ofSubject).length,
    1,
    'the subject in the log of the admin',
  );
  const own = (await log(teacher, 'limit=200')).is(200);
  must(!own.body.data.some(({ classId }) => classId === null), 'a teacher reads the log of own classes only', own);
  (await log(students[0], '')).is(403, 'FORBIDDEN_ROLE');

  same(
    (await log(stranger, `classId=${lesson.class.id}`)).is(200).body.data,
    [],
    "another school's class in the log of a stranger",
  );
  const ids = [course.id, visible.id, hidden.id, topic.id, page.id, notes.id, visible.workRoomId];
  (await log(stranger, 'limit=200')).is(200).without(lesson.class.id, ...ids);
  const doors = ['', '/editor-config', '/download', '/pdf', '/versions'].map((rest) => document(page.id, rest));
  doors.push(
    `/courses/${course.id}`,
    `/groups/${visible.id}`,
    `/assignments/${topic.id}`,
    `/assignments/${topic.id}/attachments`,
  );
  doors.push(
    `/workrooms/${visible.workRoomId}`,
    `/workrooms/group/${visible.id}`,
    `/workrooms/${visible.workRoomId}/documents`,
  );
  doors.push(
    `/classes/${lesson.class.id}`,
    `/classes/${lesson.class.id}/students`,
    lesson.files.shared.url.replace(/^\/api/, ''),
  );
  for (const path of doors) (await stranger.api.get(path)).is(404).without(...ids);
  const deeds = [
    [`/assignments/${topic.id}/finish`],
    [`/groups/${visible.id}/help/resolve`, {}],
    [document(page.id, '/unsubmit'), {}],
    ['/courses', { name: 'Mine', classId: lesson.class.id, subjectId: lesson.subject.id }],
    ['/groups', { classId: lesson.class.id }],
  ];
  for (const [path, body] of deeds) (await stranger.api.post(path, body)).is(404);
  (await stranger.api.delete(`/courses/${course.id}`)).is(404);
  for (const path of ['/courses', '/groups', '/assignments', '/classes', '/workrooms'])
    (await stranger.api.get(path)).is(200).without(...ids, lesson.class.id);
  lesson.ears.stranger.only('ready');
}

export async function deleteCourse(lesson) {
  const {
    teacher,
    admin,
    students: [ben],
    ears,
    course,
    visible,
    hidden,
    topic,
    page,
    notes,
  } = lesson;
  (await ben.api.delete(`/courses/${course.id}`)).is(403, 'FORBIDDEN_ROLE');
  const gone = (await teacher.api.delete(`/courses/${course.id}`)).is(200);
  const { deletedGroups, deletedAssignments, ...counts } = gone.body;
  same([sorted(deletedGroups), deletedAssignments], [sorted([visible.id, hidden.id]), [topic.id]], 'what went', gone);
  same(counts, { success: true, deletedDocuments: 2, deletedSubmissions: 2 }, 'how much went', gone);
  const told = await ears.students[0].hears('group:deleted', { where: ({ groupId }) => groupId === visible.id });
  same(told.reason, 'COURSE_DELETED', 'the reason of group:deleted');
  same((await ears.admin.hears('course:deleted')).courseId, course.id, 'course:deleted');

  const paths = [`/courses/${course.id}`, `/groups/${visible.id}`, `/groups/${hidden.id}`, `/assignments/${topic.id}`];
  paths.push(`/workrooms/${visible.workRoomId}`, document(page.id), document(notes.id, '/download'));
  for (const { api } of [teacher, admin]) for (const path of paths) (await api.get(path)).is(404);
  for (const path of ['courses', 'groups', 'assignments'])
    same((await teacher.api.get(`/${path}?classId=${lesson.class.id}`)).is(200).body, [], path);
  const log = (await admin.api.get(`/activity-logs?classId=${lesson.class.id}&action=COURSE_DELETE`)).is(200);
  same(log.body.data.length, 1, 'COURSE_DELETE in the log', log);
  const [{ category, event, details, entityId }] = log.body.data;
  same(
    [category, event, entityId, details.courseName],
    ['COURSE', 'COURSE_DELETE', course.id, course.name],
    'the entry',
    log,
  );
  same(sorted(details.deletedGroups.map(({ id }) => id)), sorted([visible.id, hidden.id]), 'the groups it names', log);
  same(details.deletedAssignments, [{ id: topic.id, title: topic.title }], 'the topics it names', log);
  if (lesson.here.dataDir) {
    const left = () =>
      readdirSync(lesson.here.dataDir, { recursive: true }).filter((name) =>
        [page.id, notes.id].some((id) => name.includes(id)),
      );
    await eventually(left, (names) => names.length === 0, 'the files are gone from the disk');
  }
  // At the end, over all received events.
  ears.students.forEach((ear) => ear.neverHeard(hidden.id, hidden.workRoomId, lesson.files.other.id));
  ears.students[3].neverHeard(visible.id, topic.id, page.id);
  ears.stranger.only('ready');
  Object.values(ears)
    .flat()
    .forEach((ear) => ear.close());
}
