// The first step of the story: the users sign in, and a teacher prepares a lesson.
import { must, same, sorted, upload } from './api.mjs';
import { Person } from './session.mjs';
import { Ear } from './socket.mjs';

const DAY = 86_400_000;

async function people(lesson) {
  const { teacher, admin, students, stranger } = lesson.here.people;
  must(students.length >= 4, 'the story needs four students');
  const arrive = (who, login) => new Person(lesson.here, who).signIn(login);
  lesson.teacher = await arrive('the teacher', teacher);
  const { data } = await lesson.teacher.auth.getSession();
  same(data.session.activeOrganizationId, null, 'the organization right after sign-in');
  (await lesson.teacher.api.get('/courses')).is(400, 'NO_ACTIVE_ORGANIZATION');
  await lesson.teacher.enter(lesson.here.organizationId);
  (await lesson.teacher.api.get('/courses')).is(200);
  lesson.admin = await (await arrive('the admin', admin)).enter(lesson.teacher.organizationId);
  lesson.students = [];
  for (const [index, login] of students.slice(0, 4).entries()) {
    const student = await arrive(`student ${index + 1}`, login);
    lesson.students.push(await student.enter(lesson.teacher.organizationId));
  }
  lesson.stranger = await (await arrive('the stranger', stranger)).enter();
  must(lesson.stranger.organizationId !== lesson.teacher.organizationId, 'the stranger belongs to another school');
}

export async function prepare(lesson) {
  await people(lesson);
  const { mark, teacher, admin, students, stranger } = lesson;
  lesson.subject = (await admin.api.post('/subjects', { name: `Geography ${mark}` })).is(201).body;
  const newClass = { name: `7b ${mark}`, academicYear: '2026/2027', subjectIds: [lesson.subject.id] };
  lesson.class = (await teacher.api.post('/classes', newClass)).is(201).body;
  same([lesson.class.teacherId, lesson.class.status], [teacher.user.id, 'ACTIVE'], 'the new class');
  const studentIds = students.map(({ user }) => user.id);
  (await teacher.api.post(`/classes/${lesson.class.id}/students`, { studentIds })).is(200);
  const roster = (await teacher.api.get(`/classes/${lesson.class.id}/students`)).is(200).body;
  same(sorted(roster.map(({ user }) => user.id)), sorted(studentIds), 'the students of the class');

  // All sockets are connected before the first group exists.
  lesson.ears = {
    teacher: await Ear.open(teacher),
    admin: await Ear.open(admin),
    stranger: await Ear.open(stranger),
    students: [],
  };
  for (const student of students) lesson.ears.students.push(await Ear.open(student));

  const course = { name: `Rivers ${mark}`, classId: lesson.class.id, subjectId: lesson.subject.id };
  (await students[0].api.post('/courses', { nonsense: true })).is(403, 'FORBIDDEN_ROLE');
  same(
    (await teacher.api.post('/courses', { ...course, colour: 'blue' })).is(400, 'VALIDATION_ERROR').body.details[0]
      .path,
    'colour',
    'the unknown field',
  );
  same(
    (await teacher.api.post('/courses', { ...course, name: undefined })).is(400, 'VALIDATION_ERROR').body.details[0]
      .path,
    'name',
    'the missing field',
  );
  const created = (await teacher.api.post('/courses', course)).is(201);
  lesson.course = created.body;
  same(created.headers.get('location'), `/api/courses/${lesson.course.id}`, 'Location', created);
  same([lesson.course.status, lesson.course.description], ['ACTIVE', null], 'the new course', created);
  (await teacher.api.post('/courses', course)).is(409, 'DUPLICATE_COURSE');

  const newGroup = { classId: lesson.class.id, courseId: lesson.course.id };
  const [first, second, third, fourth] = studentIds;
  const visible = { ...newGroup, name: `Bridge ${mark}`, memberIds: [first, second, third] };
  lesson.visible = (await teacher.api.post('/groups', visible)).is(201).body;
  const start = new Date(Date.now() + 7 * DAY).toISOString();
  // The first student is a member, too: membership must not make the group visible to them.
  const hidden = { ...newGroup, name: `Source ${mark}`, startDate: start, memberIds: [first, fourth] };
  lesson.hidden = (await teacher.api.post('/groups', hidden)).is(201).body;
  same(
    [lesson.visible.isHidden, lesson.hidden.isHidden, lesson.hidden.startDate],
    [false, true, start],
    'who is hidden',
  );
  same([lesson.visible.groupNumber, lesson.hidden.groupNumber], [1, 2], 'the numbers of the groups');
  same(sorted(lesson.visible.members.map(({ userId }) => userId)), sorted([first, second, third]), 'the members');
  must(
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
  lesson.topic = (await teacher.api.post('/assignments', topic)).is(201).body;
  const links = Object.fromEntries(lesson.topic.groupAssignments.map((link) => [link.groupId, link]));
  lesson.link = links[lesson.visible.id];
  same(
    [lesson.link.effectiveDescription, links[lesson.hidden.id].effectiveDescription],
    [lesson.ownText, lesson.sharedText],
    'the effective texts',
  );
  same([lesson.link.status, lesson.link.currentSubmissionId], ['NOT_STARTED', null], 'the new link');
  lesson.files = {};
  const targets = {
    shared: {},
    own: { groupAssignmentId: lesson.link.id },
    other: { groupAssignmentId: links[lesson.hidden.id].id },
  };
  for (const [name, fields] of Object.entries(targets)) {
    const form = upload(`${name}-${mark}.txt`, `The ${name} file.`, 'text/plain', fields);
    lesson.files[name] = (await teacher.api.post(`/assignments/${lesson.topic.id}/attachments`, form)).is(201).body;
    same(lesson.files[name].groupAssignmentId, fields.groupAssignmentId ?? null, `whose file ${name} is`);
  }
}
