// Steps five and six of the lesson: submitting, finishing and reopening.
import { assert, assertEqual, sorted, upload } from './api.mjs';
import { extractText } from './docx.mjs';
import { Editor, getEditorConfig, documentPath, withFaults } from './editor.mjs';

export async function submitDocument(lesson) {
  const {
    students: [ben, ana],
    teacher,
    listeners,
    page,
    topic,
    link,
  } = lesson;
  const submit = documentPath(page.id, '/submit');
  const early = (await ben.api.post(submit, {})).expect(400, 'ASSIGNMENT_ID_REQUIRED');
  assertEqual(early.body.details[0].path, 'assignmentId', 'the field that is missing', early);
  (await ben.api.post(submit, { assignmentId: '00000000-0000-7000-8000-000000000000' })).expect(404);
  (await ben.api.get(documentPath(page.id, '/pdf'))).expect(409, 'ASSIGNMENT_NOT_FINISHED');

  const first = (await ben.api.post(submit, { assignmentId: topic.id })).expect(200);
  const { submission, groupAssignment } = first.body;
  assertEqual(
    [first.body.document.status, first.body.document.assignmentId],
    ['SUBMITTED', topic.id],
    'the submitted document',
    first,
  );
  assertEqual(
    [submission.attempt, submission.status, submission.isLate, submission.submittedById],
    [1, 'ACTIVE', false, ben.user.id],
    'the first attempt',
    first,
  );
  assertEqual(
    sorted(submission.memberIds),
    sorted(lesson.students.slice(0, 3).map(({ user }) => user.id)),
    'the members of the attempt',
    first,
  );
  assertEqual(
    [groupAssignment.id, groupAssignment.status, groupAssignment.currentSubmissionId],
    [link.id, 'SUBMITTED', submission.id],
    'the link',
    first,
  );
  assert(typeof groupAssignment.effectiveDescription === 'string', 'a link contains its effective text', first);
  const ofPage = { where: ({ documentId, status }) => documentId === page.id && status === 'SUBMITTED' };
  await listeners.students[1].waitFor('document:status', ofPage);
  await listeners.teacher.waitFor('submission:created', { where: (event) => event.submission.id === submission.id });
  await listeners.students[3].expectNone('submission:created');
  for (const user of [ben, ana, teacher]) await getEditorConfig(user, page.id, 'view');
  (await ben.api.post(submit, { assignmentId: topic.id })).expect(409, 'ALREADY_SUBMITTED');
  (await ben.api.patch(documentPath(page.id), { title: 'Another title' })).expect(409, 'ALREADY_SUBMITTED');
  (await ben.api.delete(documentPath(page.id))).expect(409, 'ALREADY_SUBMITTED');

  const back = (await ana.api.post(documentPath(page.id, '/unsubmit'), {})).expect(200);
  assertEqual(
    [back.body.document.status, back.body.groupAssignment.status, back.body.groupAssignment.currentSubmissionId],
    ['DRAFT', 'IN_PROGRESS', null],
    'unsubmitted',
    back,
  );
  await listeners.teacher.waitFor('submission:withdrawn');
  (await ana.api.post(documentPath(page.id, '/unsubmit'), {})).expect(409, 'NOT_SUBMITTED');
  await getEditorConfig(ana, page.id, 'edit');
  const second = (await ana.api.post(submit, { assignmentId: topic.id, note: 'Now with all names.' })).expect(200);
  assertEqual(
    [second.body.submission.attempt, second.body.submission.status, second.body.submission.note],
    [2, 'ACTIVE', 'Now with all names.'],
    'the second attempt',
    second,
  );
  lesson.submission = second.body.submission;
}

/** Requires 423 for every change of the document by every role. */
async function checkLocked(lesson, id) {
  const {
    students: [ben],
    teacher,
    admin,
    topic,
  } = lesson;
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  const bytes = (await ben.api.get(documentPath(id, '/download'))).expect(200).bytes;
  const [{ version }] = (await ben.api.get(documentPath(id, '/versions'))).expect(200).body;
  for (const { api } of [ben, teacher, admin]) {
    (await api.post(documentPath(id, '/submit'), { assignmentId: topic.id })).expect(423, 'DOCUMENT_LOCKED');
    (await api.post(documentPath(id, '/unsubmit'), {})).expect(423, 'DOCUMENT_LOCKED');
    (await api.patch(documentPath(id), { title: 'Another title' })).expect(423, 'DOCUMENT_LOCKED');
    (await api.put(documentPath(id, '/content'), upload('new.docx', bytes, type))).expect(423, 'DOCUMENT_LOCKED');
    (await api.post(documentPath(id, `/versions/${version}/restore`))).expect(423, 'DOCUMENT_LOCKED');
    (await api.delete(documentPath(id))).expect(423, 'DOCUMENT_LOCKED');
  }
  // Only if the service has the route.
  const { paths } = (await teacher.api.get('/openapi.json')).expect(200).body;
  if (paths['/workrooms/documents/{id}/grade']) {
    for (const { api } of [teacher, admin])
      (await api.put(documentPath(id, '/grade'), { value: '1' })).expect(423, 'DOCUMENT_LOCKED');
    (await ben.api.put(documentPath(id, '/grade'), { value: '1' })).expect(403, 'FORBIDDEN_ROLE');
  }
  for (const user of [ben, teacher, admin]) await getEditorConfig(user, id, 'view');
  const after = (await teacher.api.get(documentPath(id))).expect(200);
  assertEqual([after.body.status, after.body.canEdit], ['LOCKED', false], 'the unchanged document', after);
  return after.body;
}

export async function finish(lesson) {
  const {
    students: [ben, ana, , dana],
    teacher,
    listeners,
    topic,
    page,
    notes,
    mark,
  } = lesson;
  const [before, after] = [`Typed before the lock (${mark}).`, `Typed after the lock (${mark}).`];
  const finishing = `/assignments/${topic.id}/finish`;
  (await ben.api.post(finishing)).expect(403, 'FORBIDDEN_ROLE');

  // When the teacher finishes, the notes are open and not saved, and their editor ignores the command to close.
  await withFaults(lesson.documentServerUrl, { ignoresDrop: true }, async () => {
    const editor = await Editor.open(lesson.documentServerUrl, await getEditorConfig(ana, notes.id, 'edit'));
    await editor.type(before);
    const done = (await teacher.api.post(finishing)).expect(200);
    const { finishedAt, ...rest } = done.body;
    assert(Math.abs(Date.parse(finishedAt) - Date.now()) < 60_000, 'finishedAt', done);
    const counts = { lockedDocuments: 2, groups: 2, alreadyFinished: false, unlinkedDrafts: [], openDocuments: [], unsavedDocuments: [] };
    assertEqual(rest, { assignmentId: topic.id, status: 'FINISHED', ...counts }, 'the response of finish', done);
    await editor.type(after);
    assertEqual(await editor.close(), { status: 2, accepted: true }, 'a late save is acknowledged');
  });
  const event = await listeners.students[0].waitFor('assignment:finished');
  assertEqual(sorted(event.documents.map(({ id }) => id)), sorted([page.id, notes.id]), 'the documents sent to a student');
  await listeners.students[3].expectNone('assignment:finished');
  assertEqual((await checkLocked(lesson, page.id)).statusBeforeLock, 'SUBMITTED', 'the earlier status of the page');
  assertEqual((await checkLocked(lesson, notes.id)).statusBeforeLock, 'DRAFT', 'the earlier status of the notes');
  const kept = extractText((await teacher.api.get(documentPath(notes.id, '/download'))).expect(200).bytes);
  assert(
    kept.includes(before) && !kept.includes(after),
    `the locked notes contain the text typed before the lock only: ${kept}`,
  );
  const late = ({ origin }) => origin === 'LATE_AFTER_LOCK';
  const versions = (await teacher.api.get(documentPath(notes.id, '/versions'))).expect(200);
  assertEqual(versions.body.filter(late).length, 1, 'the late version that staff can see', versions);
  const lateVersion = versions.body.find(late).version;
  const lateBytes = (await teacher.api.get(documentPath(notes.id, `/versions/${lateVersion}/download`))).expect(200).bytes;
  assert(extractText(lateBytes).includes(after), 'the late version contains the text typed after the lock');
  assertEqual(
    (await ben.api.get(documentPath(notes.id, '/versions'))).expect(200).body.filter(late),
    [],
    'late versions shown to students',
  );

  for (const { api } of [teacher, ben]) {
    const pdf = (await api.get(documentPath(page.id, '/pdf'))).expect(200);
    assertEqual(pdf.headers.get('content-type'), 'application/pdf', 'the type of the PDF', pdf);
    assert(pdf.text.startsWith('%PDF-') && pdf.bytes.byteLength > 200, 'a PDF', pdf);
  }
  (await dana.api.get(documentPath(page.id, '/pdf'))).expect(404);
  const again = (await teacher.api.post(finishing)).expect(200);
  assertEqual([again.body.lockedDocuments, again.body.alreadyFinished], [0, true], 'finishing twice', again);

  const reopening = `/assignments/${topic.id}/reopen`;
  (await ben.api.post(reopening)).expect(403, 'FORBIDDEN_ROLE');
  const open = (await teacher.api.post(reopening)).expect(200);
  assertEqual(
    open.body,
    { assignmentId: topic.id, status: 'ACTIVE', unlockedDocuments: 2, stillLockedDocuments: [], groups: 2 },
    'the response of reopen',
    open,
  );
  for (const [id, status] of [
    [page.id, 'SUBMITTED'],
    [notes.id, 'DRAFT'],
  ]) {
    const restored = (await ben.api.get(documentPath(id))).expect(200);
    assertEqual([restored.body.status, restored.body.statusBeforeLock], [status, null], 'the state after reopening', restored);
    await listeners.students[2].waitFor('document:status', {
      where: (event) => event.documentId === id && event.status === status,
    });
  }
  await listeners.students[0].waitFor('assignment:reopened');
  (await ben.api.patch(documentPath(notes.id), { title: 'Our notes' })).expect(200);
  const current = (await ben.api.get(`/assignments/${topic.id}`)).expect(200);
  assertEqual(
    current.body.groupAssignments[0].currentSubmissionId,
    lesson.submission.id,
    'the unchanged submission',
    current,
  );
}
