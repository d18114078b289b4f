// A group's lesson, from sign-in to the deleted course, with the official clients against a started server. Eight steps: the
// lesson itself is in this file, the others in story-before, story-after and story-end.
import { readFileSync } from 'node:fs';
import { Api, eventually, must, same, sorted, tell, upload, world } from './api.mjs';
import { words } from './docx.mjs';
import { Editor, configuration, notices } from './editor.mjs';
import { finish, handIn } from './story-after.mjs';
import { prepare } from './story-before.mjs';
import { deleteCourse, readLog } from './story-end.mjs';

const here = world();
const mark = Date.now().toString(36);
const UNKNOWN = '00000000-0000-7000-8000-000000000000';
/** Texts that only some users may read. */
const OWN_TEXT = `Only your group measures at the bridge (${mark}).`;
const SHARED_TEXT = `Every group writes a page about the river (${mark}).`;
const HELP = `The thermometer is broken (${mark}).`;

/** State that steps pass to later steps. */
const lesson = {
  here,
  mark,
  ownText: OWN_TEXT,
  sharedText: SHARED_TEXT,
  typed: `Ana typed this together with Ben (${mark}).`,
};

async function seeOnlyTheOwnGroup() {
  const { teacher, students, ears, visible, hidden, topic, files } = lesson;
  const of = (group) => ({ where: (payload) => payload.group?.id === group.id });
  for (const ear of [ears.teacher, ears.admin]) {
    await ear.hears('group:created', of(visible));
    await ear.hears('group:created', of(hidden));
  }
  for (const index of [0, 1, 2]) {
    const { group, courseId } = await ears.students[index].hears('group:created', of(visible));
    same(courseId, lesson.course.id, 'courseId of group:created');
    must(
      !('isHidden' in group) && !('createdById' in group),
      `staff fields told to a student: ${JSON.stringify(group)}`,
    );
    const { groupAssignment } = await ears.students[index].hears('assignment:created');
    same(
      [groupAssignment.groupId, groupAssignment.status, 'effectiveDescription' in groupAssignment],
      [visible.id, 'NOT_STARTED', false],
      'the topic announced to a student, whose text is fetched',
    );
  }
  await ears.students[3].silent('group:created');
  for (const ear of ears.students) ear.neverHeard(hidden.id, hidden.workRoomId, hidden.name);
  ears.students[3].neverHeard(visible.id, topic.id);
  same(
    ears.students[0].heard.filter(({ event }) => event === 'group:created').length,
    1,
    'how often group:created came',
  );

  const [ben, , , dana] = students;
  const secret = [hidden.id, hidden.workRoomId, hidden.name, files.other.id];
  const emails = students.slice(1).map(({ user }) => user.email);
  const groups = (await ben.api.get(`/groups?classId=${lesson.class.id}`)).is(200).without(...secret, ...emails);
  same(
    groups.body.map(({ id }) => id),
    [visible.id],
    'the groups of the first student',
    groups,
  );
  const [group] = groups.body;
  same(
    [group.course.id, group.course.name, group.needsHelp],
    [lesson.course.id, lesson.course.name, false],
    'the course of his group',
    groups,
  );
  for (const field of ['isHidden', 'helpClaimedById', 'helpResolvedAt', 'helpResolvedById'])
    must(!(field in group), `${field} is for the staff`, groups);
  same(
    group.groupAssignments.map((link) => link.effectiveDescription),
    [OWN_TEXT],
    'his effective text',
    groups,
  );
  must(!groups.text.includes('descriptionOverride'), 'descriptionOverride is for the staff', groups);
  const paths = [
    '/groups',
    `/classes/${lesson.class.id}/groups`,
    '/assignments',
    '/workrooms',
    `/classes/${lesson.class.id}`,
  ];
  for (const path of paths) (await ben.api.get(path)).is(200).without(...secret);
  const detail = (await ben.api.get(`/assignments/${topic.id}`)).is(200).without(...secret);
  same(
    detail.body.groupAssignments.map(({ groupId }) => groupId),
    [visible.id],
    'the links of the topic',
    detail,
  );
  must(!('stats' in detail.body), 'stats are for the staff', detail);
  const listed = (await ben.api.get(`/assignments/${topic.id}/attachments`)).is(200);
  same(sorted(listed.body.map(({ id }) => id)), sorted([files.shared.id, files.own.id]), 'his files', listed);
  const download = (file) => ben.api.get(file.url.replace(/^\/api/, ''));
  same((await download(files.own)).is(200).text, 'The own file.', 'the bytes of his file');
  (await download(files.other)).is(404);

  const unknown = (await ben.api.get(`/groups/${UNKNOWN}`)).is(404).refusal;
  const concealed = (await ben.api.get(`/groups/${hidden.id}`)).is(404);
  same(concealed.refusal, unknown, 'a hidden group is as unknown as one that never was', concealed);
  (await ben.api.get(`/workrooms/${hidden.workRoomId}`)).is(404);
  (await ben.api.get(`/workrooms/group/${hidden.id}`)).is(404);
  (await ben.api.post(`/groups/${hidden.id}/help`, {})).is(404);
  for (const path of [`/groups?classId=${lesson.class.id}`, `/assignments?classId=${lesson.class.id}`]) {
    same((await dana.api.get(path)).is(200).body, [], `${path} of a student whose only group is hidden`);
  }
  for (const path of [`/assignments/${topic.id}`, `/groups/${visible.id}`, `/workrooms/${visible.workRoomId}`])
    (await dana.api.get(path)).is(404);
  same((await teacher.api.get(`/groups/${hidden.id}`)).is(200).body.isHidden, true, 'the teacher sees it');
}

async function writeTogether() {
  const {
    students: [ben, ana],
    ears,
    visible,
    teacher,
  } = lesson;
  const documents = `/workrooms/${visible.workRoomId}/documents`;
  const blank = (await ben.api.post(documents, { title: 'Our page', documentType: 'word' })).is(201);
  lesson.page = blank.body;
  same(
    [blank.body.status, blank.body.fileExtension, blank.body.canEdit, blank.body.mode],
    ['DRAFT', 'docx', true, 'edit'],
    'the new document',
    blank,
  );
  await ears.students[1].hears('document:created', { where: ({ document }) => document.id === lesson.page.id });
  const river = readFileSync(new URL('files/river.docx', import.meta.url));
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  const uploaded = (await ben.api.post(documents, upload('river.docx', river, type))).is(201);
  lesson.notes = uploaded.body;
  same([uploaded.body.documentType, uploaded.body.size], ['word', river.length], 'the uploaded document', uploaded);
  const stored = (await ana.api.get(`/workrooms/documents/${lesson.notes.id}/download`)).is(200);
  must(Buffer.from(stored.bytes).equals(river), 'the upload comes back byte for byte', stored);

  const config = await configuration(ben, lesson.page.id, 'edit');
  const anas = await configuration(ana, lesson.page.id, 'edit');
  same(anas.document.key, config.document.key, 'one editing session has one key');
  lesson.documentServerUrl = config.documentServerUrl;
  // The page's own token opens the editor and nothing else.
  const file = `/workrooms/documents/${lesson.page.id}/file`;
  (await ben.api.get(file)).is(401, 'DOCSERVER_TOKEN_MISSING');
  const page = new Api(`${ben.baseUrl}/api`, 'a page that misuses its token');
  (await page.call('GET', file, undefined, { authorization: `Bearer ${config.token}` })).is(
    403,
    'DOCSERVER_TOKEN_MISMATCH',
  );
  (await ben.api.post(`/workrooms/documents/${lesson.page.id}/callback`, { key: config.document.key, status: 4 })).is(
    401,
    'DOCSERVER_TOKEN_MISSING',
  );

  const [bens, second] = [
    await Editor.open(config.documentServerUrl, config),
    await Editor.open(config.documentServerUrl, anas),
  ];
  same([bens.opened.mode, second.opened.mode], ['edit', 'edit'], 'both may write');
  const anasText = `And this is from the second (${mark}).`;
  await second.type(anasText);
  must((await bens.text()).includes(anasText), 'the first student sees what the second one types');
  await bens.type(lesson.typed);
  same(await second.close(), { status: 1, accepted: true }, 'one leaves while the other goes on');
  same(await bens.close(), { status: 2, accepted: true }, 'the last one leaves and the save is taken');

  const saved = (await ben.api.get(`/workrooms/documents/${lesson.page.id}/download`)).is(200);
  for (const text of [lesson.typed, anasText])
    must(words(saved.bytes).includes(text), `the stored file lacks ${text}`, saved);
  const now = (await ben.api.get(`/workrooms/documents/${lesson.page.id}`)).is(200);
  must(now.body.version > lesson.page.version, 'a save is a new version', now);
  same(now.body.lastEditedBy, ben.user.id, 'who edited last', now);
  await ears.teacher.hears('document:updated', { where: ({ document }) => document.id === lesson.page.id });
  must(
    (await configuration(ben, lesson.page.id, 'edit')).document.key !== config.document.key,
    'a final save ends the key',
  );
  const refused = (await notices(config.documentServerUrl, lesson.page.id)).filter(({ accepted }) => !accepted);
  same(refused, [], 'the notices that were not taken');
  const link = async () =>
    (await teacher.api.get(`/assignments/${lesson.topic.id}`))
      .is(200)
      .body.groupAssignments.find(({ id }) => id === lesson.link.id);
  same((await link()).status, 'IN_PROGRESS', 'the link after the first document');
}

async function askForHelp() {
  const {
    students: [ben],
    teacher,
    ears,
    visible,
  } = lesson;
  const [room, since] = [`/groups/${visible.id}/help`, [ears.teacher, ears.admin].map((ear) => ear.now)];
  (await teacher.api.post(room, { message: HELP })).is(403, 'FORBIDDEN_ROLE');
  const raised = (await ben.api.post(room, { message: HELP })).is(200);
  same([raised.body.needsHelp, raised.body.helpMessage], [true, HELP], 'the raised flag', raised);
  for (const [index, ear] of [ears.teacher, ears.admin].entries()) {
    const told = await ear.hears('group:help', { from: since[index] });
    same(
      [told.groupId, told.groupNumber, told.needsHelp, told.helpMessage, told.requestedBy.id],
      [visible.id, 1, true, HELP, ben.user.id],
      'group:help',
    );
  }
  for (const ear of ears.students) await ear.silent('group:help');
  ears.students[3].neverHeard(HELP, visible.id);
  (await ben.api.post(`${room}/resolve`, {})).is(403, 'FORBIDDEN_ROLE');
  same((await teacher.api.post(`${room}/resolve`, {})).is(200).body.needsHelp, false, 'the handled flag');
  (await teacher.api.post(`${room}/resolve`, {})).is(200);
  const resolved = await ears.admin.hears('group:help:resolved', { from: since[1] });
  same(
    [resolved.groupId, resolved.needsHelp, resolved.resolvedBy.id],
    [visible.id, false, teacher.user.id],
    'group:help:resolved',
  );
  await ears.students[1].hears('group:updated', {
    where: ({ group }) => group.id === visible.id && group.needsHelp === false,
  });
  await ears.students[1].silent('group:help:resolved');
  const calm = await eventually(
    () => ben.api.get(`/groups/${visible.id}`),
    ({ body }) => body?.needsHelp === false,
    'the flag is down',
  );
  same([calm.body.helpMessage, calm.body.helpRequestedAt], [null, null], 'what is left of the flag', calm);
}

await tell([
  ['a teacher prepares a course, two groups and a topic', () => prepare(lesson)],
  ['a student hears and sees his group and no trace of the hidden one', seeOnlyTheOwnGroup],
  ['two students write one document together and it is stored', writeTogether],
  ['a call for help reaches the staff alone', askForHelp],
  ['the group hands in, takes back and hands in again', () => handIn(lesson)],
  ['finishing locks everything for everybody, reopening restores it', () => finish(lesson)],
  ['the log tells it to the teacher and the admin, each in his scope', () => readLog(lesson)],
  ['deleting the course leaves nothing behind', () => deleteCourse(lesson)],
]);
process.exit(0);
