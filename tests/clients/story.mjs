// Runs one group's lesson with the official clients against a started server, from sign-in to the deleted course. Five of the
// eight steps are in story-preparation.mjs, story-submission.mjs and story-deletion.mjs.
import { readFileSync } from 'node:fs';
import { Api, waitUntil, assert, assertEqual, sorted, runSteps, upload, readWorld } from './api.mjs';
import { extractText } from './docx.mjs';
import { Editor, getEditorConfig, listCallbacks } from './editor.mjs';
import { finish, submitDocument } from './story-submission.mjs';
import { prepare } from './story-preparation.mjs';
import { deleteCourse, readLog } from './story-deletion.mjs';

const world = readWorld();
const mark = Date.now().toString(36);
const UNKNOWN = '00000000-0000-7000-8000-000000000000';
/** Texts that only some of the users may read. */
const OWN_TEXT = `Only your group measures at the bridge (${mark}).`;
const SHARED_TEXT = `Every group writes a page about the river (${mark}).`;
const HELP = `The thermometer is broken (${mark}).`;

/** State that later steps read. */
const lesson = {
  world,
  mark,
  ownText: OWN_TEXT,
  sharedText: SHARED_TEXT,
  typed: `Ana typed this together with Ben (${mark}).`,
};

async function studentSeesOwnGroup() {
  const { teacher, students, listeners, visible, hidden, topic, files } = lesson;
  const of = (group) => ({ where: (payload) => payload.group?.id === group.id });
  for (const listener of [listeners.teacher, listeners.admin]) {
    await listener.waitFor('group:created', of(visible));
    await listener.waitFor('group:created', of(hidden));
  }
  for (const index of [0, 1, 2]) {
    const { group, courseId } = await listeners.students[index].waitFor('group:created', of(visible));
    assertEqual(courseId, lesson.course.id, 'courseId of group:created');
    assert(
      !('isHidden' in group) && !('createdById' in group),
      `staff fields sent to a student: ${JSON.stringify(group)}`,
    );
    const { groupAssignment } = await listeners.students[index].waitFor('assignment:created');
    assertEqual(
      [groupAssignment.groupId, groupAssignment.status, 'effectiveDescription' in groupAssignment],
      [visible.id, 'NOT_STARTED', false],
      'the topic announced to a student, whose text is fetched',
    );
  }
  await listeners.students[3].expectNone('group:created');
  for (const listener of listeners.students) listener.expectNeverReceived(hidden.id, hidden.workRoomId, hidden.name);
  listeners.students[3].expectNeverReceived(visible.id, topic.id);
  assertEqual(
    listeners.students[0].received.filter(({ event }) => event === 'group:created').length,
    1,
    'the number of group:created events',
  );

  const [ben, , , dana] = students;
  const secret = [hidden.id, hidden.workRoomId, hidden.name, files.other.id];
  const emails = students.slice(1).map(({ user }) => user.email);
  const groups = (await ben.api.get(`/groups?classId=${lesson.class.id}`)).expect(200).expectWithout(...secret, ...emails);
  assertEqual(
    groups.body.map(({ id }) => id),
    [visible.id],
    'the groups of the first student',
    groups,
  );
  const [group] = groups.body;
  assertEqual(
    [group.course.id, group.course.name, group.needsHelp],
    [lesson.course.id, lesson.course.name, false],
    'the course of the group',
    groups,
  );
  for (const field of ['isHidden', 'helpClaimedById', 'helpResolvedAt', 'helpResolvedById'])
    assert(!(field in group), `${field} is for the staff`, groups);
  assertEqual(
    group.groupAssignments.map((link) => link.effectiveDescription),
    [OWN_TEXT],
    'the effective text of the group',
    groups,
  );
  assert(!groups.text.includes('descriptionOverride'), 'descriptionOverride is for the staff', groups);
  const paths = [
    '/groups',
    `/classes/${lesson.class.id}/groups`,
    '/assignments',
    '/workrooms',
    `/classes/${lesson.class.id}`,
  ];
  for (const path of paths) (await ben.api.get(path)).expect(200).expectWithout(...secret);
  const detail = (await ben.api.get(`/assignments/${topic.id}`)).expect(200).expectWithout(...secret);
  assertEqual(
    detail.body.groupAssignments.map(({ groupId }) => groupId),
    [visible.id],
    'the links of the topic',
    detail,
  );
  assert(!('stats' in detail.body), 'stats are for the staff', detail);
  const listed = (await ben.api.get(`/assignments/${topic.id}/attachments`)).expect(200);
  assertEqual(sorted(listed.body.map(({ id }) => id)), sorted([files.shared.id, files.own.id]), 'the files of the group', listed);
  const download = (file) => ben.api.get(file.url.replace(/^\/api/, ''));
  assertEqual((await download(files.own)).expect(200).text, 'The own file.', 'the bytes of the own file');
  (await download(files.other)).expect(404);

  const unknown = (await ben.api.get(`/groups/${UNKNOWN}`)).expect(404).errorBody;
  const hiddenResponse = (await ben.api.get(`/groups/${hidden.id}`)).expect(404);
  assertEqual(hiddenResponse.errorBody, unknown, 'a hidden group is like an unknown id', hiddenResponse);
  (await ben.api.get(`/workrooms/${hidden.workRoomId}`)).expect(404);
  (await ben.api.get(`/workrooms/group/${hidden.id}`)).expect(404);
  (await ben.api.post(`/groups/${hidden.id}/help`, {})).expect(404);
  for (const path of [`/groups?classId=${lesson.class.id}`, `/assignments?classId=${lesson.class.id}`]) {
    assertEqual((await dana.api.get(path)).expect(200).body, [], `${path} of a student whose only group is hidden`);
  }
  for (const path of [`/assignments/${topic.id}`, `/groups/${visible.id}`, `/workrooms/${visible.workRoomId}`])
    (await dana.api.get(path)).expect(404);
  assertEqual((await teacher.api.get(`/groups/${hidden.id}`)).expect(200).body.isHidden, true, 'the teacher sees the hidden group');
}

async function writeTogether() {
  const {
    students: [ben, ana],
    listeners,
    visible,
    teacher,
  } = lesson;
  const documents = `/workrooms/${visible.workRoomId}/documents`;
  const blank = (await ben.api.post(documents, { title: 'Our page', documentType: 'word' })).expect(201);
  lesson.page = blank.body;
  assertEqual(
    [blank.body.status, blank.body.fileExtension, blank.body.canEdit, blank.body.mode],
    ['DRAFT', 'docx', true, 'edit'],
    'the new document',
    blank,
  );
  await listeners.students[1].waitFor('document:created', { where: ({ document }) => document.id === lesson.page.id });
  const river = readFileSync(new URL('files/river.docx', import.meta.url));
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  const uploaded = (await ben.api.post(documents, upload('river.docx', river, type))).expect(201);
  lesson.notes = uploaded.body;
  assertEqual([uploaded.body.documentType, uploaded.body.size], ['word', river.length], 'the uploaded document', uploaded);
  const stored = (await ana.api.get(`/workrooms/documents/${lesson.notes.id}/download`)).expect(200);
  assert(Buffer.from(stored.bytes).equals(river), 'the upload comes back byte for byte', stored);

  const config = await getEditorConfig(ben, lesson.page.id, 'edit');
  const anas = await getEditorConfig(ana, lesson.page.id, 'edit');
  assertEqual(anas.document.key, config.document.key, 'one editing session has one key');
  lesson.documentServerUrl = config.documentServerUrl;
  // The token of the page is valid for the editor only.
  const file = `/workrooms/documents/${lesson.page.id}/file`;
  (await ben.api.get(file)).expect(401, 'DOCSERVER_TOKEN_MISSING');
  const page = new Api(`${ben.baseUrl}/api`, 'a page that misuses its token');
  (await page.call('GET', file, undefined, { authorization: `Bearer ${config.token}` })).expect(
    403,
    'DOCSERVER_TOKEN_MISMATCH',
  );
  (await ben.api.post(`/workrooms/documents/${lesson.page.id}/callback`, { key: config.document.key, status: 4 })).expect(
    401,
    'DOCSERVER_TOKEN_MISSING',
  );

  const [bens, second] = [
    await Editor.open(config.documentServerUrl, config),
    await Editor.open(config.documentServerUrl, anas),
  ];
  assertEqual([bens.opened.mode, second.opened.mode], ['edit', 'edit'], 'both editors are writable');
  const anasText = `And this is from the second (${mark}).`;
  await second.type(anasText);
  assert((await bens.text()).includes(anasText), 'the first student sees what the second one types');
  await bens.type(lesson.typed);
  assertEqual(await second.close(), { status: 1, accepted: true }, 'one editor closes while the other stays open');
  assertEqual(await bens.close(), { status: 2, accepted: true }, 'the last editor closes and the save is accepted');

  const saved = (await ben.api.get(`/workrooms/documents/${lesson.page.id}/download`)).expect(200);
  for (const text of [lesson.typed, anasText])
    assert(extractText(saved.bytes).includes(text), `the stored file lacks ${text}`, saved);
  const now = (await ben.api.get(`/workrooms/documents/${lesson.page.id}`)).expect(200);
  assert(now.body.version > lesson.page.version, 'a save is a new version', now);
  assertEqual(now.body.lastEditedBy, ben.user.id, 'the last editor', now);
  await listeners.teacher.waitFor('document:updated', { where: ({ document }) => document.id === lesson.page.id });
  assert(
    (await getEditorConfig(ben, lesson.page.id, 'edit')).document.key !== config.document.key,
    'a final save changes the key',
  );
  const rejected = (await listCallbacks(config.documentServerUrl, lesson.page.id)).filter(({ accepted }) => !accepted);
  assertEqual(rejected, [], 'the rejected callbacks');
  const link = async () =>
    (await teacher.api.get(`/assignments/${lesson.topic.id}`))
      .expect(200)
      .body.groupAssignments.find(({ id }) => id === lesson.link.id);
  assertEqual((await link()).status, 'IN_PROGRESS', 'the link after the first document');
}

async function requestHelp() {
  const {
    students: [ben],
    teacher,
    listeners,
    visible,
  } = lesson;
  const [room, since] = [`/groups/${visible.id}/help`, [listeners.teacher, listeners.admin].map((listener) => listener.position)];
  (await teacher.api.post(room, { message: HELP })).expect(403, 'FORBIDDEN_ROLE');
  const raised = (await ben.api.post(room, { message: HELP })).expect(200);
  assertEqual([raised.body.needsHelp, raised.body.helpMessage], [true, HELP], 'the requested help', raised);
  for (const [index, listener] of [listeners.teacher, listeners.admin].entries()) {
    const event = await listener.waitFor('group:help', { from: since[index] });
    assertEqual(
      [event.groupId, event.groupNumber, event.needsHelp, event.helpMessage, event.requestedBy.id],
      [visible.id, 1, true, HELP, ben.user.id],
      'group:help',
    );
  }
  for (const listener of listeners.students) await listener.expectNone('group:help');
  listeners.students[3].expectNeverReceived(HELP, visible.id);
  (await ben.api.post(`${room}/resolve`, {})).expect(403, 'FORBIDDEN_ROLE');
  assertEqual((await teacher.api.post(`${room}/resolve`, {})).expect(200).body.needsHelp, false, 'the resolved help');
  (await teacher.api.post(`${room}/resolve`, {})).expect(200);
  const resolved = await listeners.admin.waitFor('group:help:resolved', { from: since[1] });
  assertEqual(
    [resolved.groupId, resolved.needsHelp, resolved.resolvedBy.id],
    [visible.id, false, teacher.user.id],
    'group:help:resolved',
  );
  await listeners.students[1].waitFor('group:updated', {
    where: ({ group }) => group.id === visible.id && group.needsHelp === false,
  });
  await listeners.students[1].expectNone('group:help:resolved');
  const resolvedGroup = await waitUntil(
    () => ben.api.get(`/groups/${visible.id}`),
    ({ body }) => body?.needsHelp === false,
    'help is resolved',
  );
  const { helpMessage, helpRequestedAt } = resolvedGroup.body;
  assertEqual([helpMessage, helpRequestedAt], [null, null], 'the fields of a resolved flag', resolvedGroup);
}

await runSteps([
  ['a teacher prepares a course, two groups and a topic', () => prepare(lesson)],
  ['a student receives and reads the own group and nothing of the hidden one', studentSeesOwnGroup],
  ['two students edit one document together and it is stored', writeTogether],
  ['a help request is sent to the staff only', requestHelp],
  ['the group submits, unsubmits and submits again', () => submitDocument(lesson)],
  ['finishing locks documents for every role, reopening restores them', () => finish(lesson)],
  ['teacher and admin read the activity log, each in their scope', () => readLog(lesson)],
  ['deleting the course deletes everything that belongs to it', () => deleteCourse(lesson)],
]);
process.exit(0);
