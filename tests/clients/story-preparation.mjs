// The first step of the lesson: the users sign in, and a teacher creates class, course, groups and topic.
import { assert, assertEqual, sorted, upload } from './api.mjs';
import { User } from './session.mjs';
import { SocketListener } from './socket.mjs';

const DAY = 86_400_000;

async function signInUsers(lesson) {
  const { teacher, admin, students, stranger } = lesson.world.people;
  assert(students.length >= 4, 'the lesson needs four students');
  const signIn = (label, login) => new User(lesson.world, label).signIn(login);
  lesson.teacher = await signIn('the teacher', teacher);
  const { data } = await lesson.teacher.auth.getSession();
  assertEqual(data.session.activeOrganizationId, null, 'the organization right after sign-in');
  (await lesson.teacher.api.get('/courses')).expect(400, 'NO_ACTIVE_ORGANIZATION');
  await lesson.teacher.selectOrganization(lesson.world.organizationId);
  (await lesson.teacher.api.get('/courses')).expect(200);
  lesson.admin = await (await signIn('the admin', admin)).selectOrganization(lesson.teacher.organizationId);
  lesson.students = [];
  for (const [index, login] of students.slice(0, 4).entries()) {
    const student = await signIn(`student ${index + 1}`, login);
    lesson.students.push(await student.selectOrganization(lesson.teacher.organizationId));
  }
  lesson.stranger = await (await signIn('the stranger', stranger)).selectOrganization();
  assert(lesson.stranger.organizationId !== lesson.teacher.organizationId, 'the stranger belongs to another school');
}

export async function prepare(lesson) {
  await signInUsers(lesson);
  const { mark, teacher, admin, students, stranger } = lesson;
  lesson.subject = (await admin.api.post('/subjects', { name: `Geography ${mark}` })).expect(201).body;
  const newClass = { name: `7b ${mark}`, academicYear: '2026/2027', subjectIds: [lesson.subject.id] };
  lesson.class = (await teacher.api.post('/classes', newClass)).expect(201).body;
  assertEqual([lesson.class.teacherId, lesson.class.status], [teacher.user.id, 'ACTIVE'], 'the new class');
  const studentIds = students.map(({ user }) => user.id);
  (await teacher.api.post(`/classes/${lesson.class.id}/students`, { studentIds })).expect(200);
  const roster = (await teacher.api.get(`/classes/${lesson.class.id}/students`)).expect(200).body;
  assertEqual(sorted(roster.map(({ user }) => user.id)), sorted(studentIds), 'the students of the class');

  // All users are connected before the first group exists.
  lesson.listeners = {
    teacher: await SocketListener.open(teacher),
    admin: await SocketListener.open(admin),
    stranger: await SocketListener.open(stranger),
    students: [],
  };
  for (const student of students) lesson.listeners.students.push(await SocketListener.open(student));

  const course = { name: `Rivers ${mark}`, classId: lesson.class.id, subjectId: lesson.subject.id };
  (await students[0].api.post('/courses', { nonsense: true })).expect(403, 'FORBIDDEN_ROLE');
  assertEqual(
    (await teacher.api.post('/courses', { ...course, colour: 'blue' })).expect(400, 'VALIDATION_ERROR').body.details[0]
      .path,
    'colour',
    'the unknown field',
  );
  assertEqual(
    (await teacher.api.post('/courses', { ...course, name: undefined })).expect(400, 'VALIDATION_ERROR').body.details[0]
      .path,
    'name',
    'the missing field',
  );
  const created = (await teacher.api.post('/courses', course)).expect(201);
  lesson.course = created.body;
  assertEqual(created.headers.get('location'), `/api/courses/${lesson.course.id}`, 'Location', created);
  assertEqual([lesson.course.status, lesson.course.description], ['ACTIVE', null], 'the new course', created);
  (await teacher.api.post('/courses', course)).expect(409, 'DUPLICATE_COURSE');

  const newGroup = { classId: lesson.class.id, courseId: lesson.course.id };
  const [first, second, third, fourth] = studentIds;
  const visible = { ...newGroup, name: `Bridge ${mark}`, memberIds: [first, second, third] };
  lesson.visible = (await teacher.api.post('/groups', visible)).expect(201).body;
  const start = new Date(Date.now() + 7 * DAY).toISOString();
  // The first student is a member, too: membership must not make a hidden group visible.
  const hidden = { ...newGroup, name: `Source ${mark}`, startDate: start, memberIds: [first, fourth] };
  lesson.hidden = (await teacher.api.post('/groups', hidden)).expect(201).body;
  assertEqual(
    [lesson.visible.isHidden, lesson.hidden.isHidden, lesson.hidden.startDate],
    [false, true, start],
    'the visibility of the groups',
  );
  assertEqual([lesson.visible.groupNumber, lesson.hidden.groupNumber], [1, 2], 'the numbers of the groups');
  assertEqual(sorted(lesson.visible.members.map(({ userId }) => userId)), sorted([first, second, third]), 'the members');
  assert(
    lesson.visible.workRoomId && lesson.hidden.workRoomId !== lesson.visible.workRoomId,
    'each group has a work room',
  );

  const topic = {
    title: `The river ${mark}`,
    description: lesson.sharedText,
    deadline: new Date(Date.now() + 3 * DAY).toISOString(),
    classId: lesson.class.id,
    courseId: lesson.course.id,
    isShared: false,
    groups: [{ groupId: lesson.visible.id, descriptionOverride: lesson.ownText }, { groupId: lesson.hidden.id }],
  };
  lesson.topic = (await teacher.api.post('/assignments', topic)).expect(201).body;
  const links = Object.fromEntries(lesson.topic.groupAssignments.map((link) => [link.groupId, link]));
  lesson.link = links[lesson.visible.id];
  assertEqual(
    [lesson.link.effectiveDescription, links[lesson.hidden.id].effectiveDescription],
    [lesson.ownText, lesson.sharedText],
    'the effective texts',
  );
  assertEqual([lesson.link.status, lesson.link.currentSubmissionId], ['NOT_STARTED', null], 'the new link');
  lesson.files = {};
  const targets = {
    shared: {},
    own: { groupAssignmentId: lesson.link.id },
    other: { groupAssignmentId: links[lesson.hidden.id].id },
  };
  for (const [name, fields] of Object.entries(targets)) {
    const form = upload(`${name}-${mark}.txt`, `The ${name} file.`, 'text/plain', fields);
    lesson.files[name] = (await teacher.api.post(`/assignments/${lesson.topic.id}/attachments`, form)).expect(201).body;
    assertEqual(lesson.files[name].groupAssignmentId, fields.groupAssignmentId ?? null, `the link of the file ${name}`);
  }
}
