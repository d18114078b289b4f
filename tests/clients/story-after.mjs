// Steps five and six of the story: submitting, and closing the topic.
import { must, same, sorted, upload } from './api.mjs';
import { words } from './docx.mjs';
import { Editor, configuration, document, misbehaving } from './editor.mjs';

export async function handIn(lesson) {
  const {
    students: [ben, ana],
    teacher,
    ears,
    page,
    topic,
    link,
  } = lesson;
  const submit = document(page.id, '/submit');
  const early = (await ben.api.post(submit, {})).is(400, 'ASSIGNMENT_ID_REQUIRED');
  same(early.body.details[0].path, 'assignmentId', 'the field that is missing', early);
  (await ben.api.post(submit, { assignmentId: '00000000-0000-7000-8000-000000000000' })).is(404);
  (await ben.api.get(document(page.id, '/pdf'))).is(409, 'ASSIGNMENT_NOT_FINISHED');

  const first = (await ben.api.post(submit, { assignmentId: topic.id })).is(200);
  const { submission, groupAssignment } = first.body;
  same(
    [first.body.document.status, first.body.document.assignmentId],
    ['SUBMITTED', topic.id],
    'the document handed in',
    first,
  );
  same(
    [submission.attempt, submission.status, submission.isLate, submission.submittedById],
    [1, 'ACTIVE', false, ben.user.id],
    'the first attempt',
    first,
  );
  same(
    sorted(submission.memberIds),
    sorted(lesson.students.slice(0, 3).map(({ user }) => user.id)),
    'whose it is',
    first,
  );
  same(
    [groupAssignment.id, groupAssignment.status, groupAssignment.currentSubmissionId],
    [link.id, 'SUBMITTED', submission.id],
    'the link',
    first,
  );
  must(typeof groupAssignment.effectiveDescription === 'string', 'a link always carries its effective text', first);
  const ofPage = { where: ({ documentId, status }) => documentId === page.id && status === 'SUBMITTED' };
  await ears.students[1].hears('document:status', ofPage);
  await ears.teacher.hears('submission:created', { where: (told) => told.submission.id === submission.id });
  await ears.students[3].silent('submission:created');
  for (const person of [ben, ana, teacher]) await configuration(person, page.id, 'view');
  (await ben.api.post(submit, { assignmentId: topic.id })).is(409, 'ALREADY_SUBMITTED');
  (await ben.api.patch(document(page.id), { title: 'Another title' })).is(409, 'ALREADY_SUBMITTED');
  (await ben.api.delete(document(page.id))).is(409, 'ALREADY_SUBMITTED');

  const back = (await ana.api.post(document(page.id, '/unsubmit'), {})).is(200);
  same(
    [back.body.document.status, back.body.groupAssignment.status, back.body.groupAssignment.currentSubmissionId],
    ['DRAFT', 'IN_PROGRESS', null],
    'taken back',
    back,
  );
  await ears.teacher.hears('submission:withdrawn');
  (await ana.api.post(document(page.id, '/unsubmit'), {})).is(409, 'NOT_SUBMITTED');
  await configuration(ana, page.id, 'edit');
  const second = (await ana.api.post(submit, { assignmentId: topic.id, note: 'Now with all names.' })).is(200);
  same(
    [second.body.submission.attempt, second.body.submission.status, second.body.submission.note],
    [2, 'ACTIVE', 'Now with all names.'],
    'the second attempt',
    second,
  );
  lesson.submission = second.body.submission;
}

/** Requires 423 for every change of this document, for all users. */
async function locked(lesson, id) {
  const {
    students: [ben],
    teacher,
    admin,
    topic,
  } = lesson;
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  const bytes = (await ben.api.get(document(id, '/download'))).is(200).bytes;
  const [{ version }] = (await ben.api.get(document(id, '/versions'))).is(200).body;
  for (const { api } of [ben, teacher, admin]) {
    (await api.post(document(id, '/submit'), { assignmentId: topic.id })).is(423, 'DOCUMENT_LOCKED');
    (await api.post(document(id, '/unsubmit'), {})).is(423, 'DOCUMENT_LOCKED');
    (await api.patch(document(id), { title: 'Another title' })).is(423, 'DOCUMENT_LOCKED');
    (await api.put(document(id, '/content'), upload('new.docx', bytes, type))).is(423, 'DOCUMENT_LOCKED');
    (await api.post(document(id, `/versions/${version}/restore`))).is(423, 'DOCUMENT_LOCKED');
    (await api.delete(document(id))).is(423, 'DOCUMENT_LOCKED');
  }
  // Sent if the service has the route.
  const { paths } = (await teacher.api.get('/openapi.json')).is(200).body;
  if (paths['/workrooms/documents/{id}/grade']) {
    for (const { api } of [teacher, admin])
      (await api.put(document(id, '/grade'), { value: '1' })).is(423, 'DOCUMENT_LOCKED');
    (await ben.api.put(document(id, '/grade'), { value: '1' })).is(403, 'FORBIDDEN_ROLE');
  }
  for (const person of [ben, teacher, admin]) await configuration(person, id, 'view');
  const after = (await teacher.api.get(document(id))).is(200);
  same([after.body.status, after.body.canEdit], ['LOCKED', false], 'the document after all that', after);
  return after.body;
}

export async function finish(lesson) {
  const {
    students: [ben, ana, , dana],
    teacher,
    ears,
    topic,
    page,
    notes,
    mark,
  } = lesson;
  const [before, after] = [`Typed before the bell (${mark}).`, `Typed after the bell (${mark}).`];
  const finishing = `/assignments/${topic.id}/finish`;
  (await ben.api.post(finishing)).is(403, 'FORBIDDEN_ROLE');

  // The notes are open and not saved when the teacher closes the topic, and their page does not close.
  await misbehaving(lesson.documentServerUrl, { ignoresDrop: true }, async () => {
    const editor = await Editor.open(lesson.documentServerUrl, await configuration(ana, notes.id, 'edit'));
    await editor.type(before);
    const done = (await teacher.api.post(finishing)).is(200);
    const { finishedAt, ...rest } = done.body;
    must(Math.abs(Date.parse(finishedAt) - Date.now()) < 60_000, 'finishedAt', done);
    const counts = { lockedDocuments: 2, groups: 2, alreadyFinished: false, unlinkedDrafts: [], openDocuments: [], unsavedDocuments: [] };
    same(rest, { assignmentId: topic.id, status: 'FINISHED', ...counts }, 'the answer of finish', done);
    await editor.type(after);
    same(await editor.close(), { status: 2, accepted: true }, 'a late save is acknowledged');
  });
  const told = await ears.students[0].hears('assignment:finished');
  same(sorted(told.documents.map(({ id }) => id)), sorted([page.id, notes.id]), 'the documents told to a student');
  await ears.students[3].silent('assignment:finished');
  same((await locked(lesson, page.id)).statusBeforeLock, 'SUBMITTED', 'what the page was');
  same((await locked(lesson, notes.id)).statusBeforeLock, 'DRAFT', 'what the notes were');
  const kept = words((await teacher.api.get(document(notes.id, '/download'))).is(200).bytes);
  must(
    kept.includes(before) && !kept.includes(after),
    `the locked notes hold what was typed before the bell and no more: ${kept}`,
  );
  const late = ({ origin }) => origin === 'LATE_AFTER_LOCK';
  const versions = (await teacher.api.get(document(notes.id, '/versions'))).is(200);
  same(versions.body.filter(late).length, 1, 'the late version that the staff can see', versions);
  const lateVersion = versions.body.find(late).version;
  const lateBytes = (await teacher.api.get(document(notes.id, `/versions/${lateVersion}/download`))).is(200).bytes;
  must(words(lateBytes).includes(after), 'the late version holds what was typed after the bell');
  same(
    (await ben.api.get(document(notes.id, '/versions'))).is(200).body.filter(late),
    [],
    'late versions shown to students',
  );

  for (const { api } of [teacher, ben]) {
    const pdf = (await api.get(document(page.id, '/pdf'))).is(200);
    same(pdf.headers.get('content-type'), 'application/pdf', 'the type of the PDF', pdf);
    must(pdf.text.startsWith('%PDF-') && pdf.bytes.byteLength > 200, 'a PDF', pdf);
  }
  (await dana.api.get(document(page.id, '/pdf'))).is(404);
  const again = (await teacher.api.post(finishing)).is(200);
  same([again.body.lockedDocuments, again.body.alreadyFinished], [0, true], 'finishing twice', again);

  const reopening = `/assignments/${topic.id}/reopen`;
  (await ben.api.post(reopening)).is(403, 'FORBIDDEN_ROLE');
  const open = (await teacher.api.post(reopening)).is(200);
  same(
    open.body,
    { assignmentId: topic.id, status: 'ACTIVE', unlockedDocuments: 2, stillLockedDocuments: [], groups: 2 },
    'the answer of reopen',
    open,
  );
  for (const [id, status] of [
    [page.id, 'SUBMITTED'],
    [notes.id, 'DRAFT'],
  ]) {
    const restored = (await ben.api.get(document(id))).is(200);
    same([restored.body.status, restored.body.statusBeforeLock], [status, null], 'the state after reopening', restored);
    await ears.students[2].hears('document:status', {
      where: (news) => news.documentId === id && news.status === status,
    });
  }
  await ears.students[0].hears('assignment:reopened');
  (await ben.api.patch(document(notes.id), { title: 'Our notes' })).is(200);
  const current = (await ben.api.get(`/assignments/${topic.id}`)).is(200);
  same(
    current.body.groupAssignments[0].currentSubmissionId,
    lesson.submission.id,
    'the submission is the same as before',
    current,
  );
}
