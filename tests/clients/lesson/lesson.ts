// One lesson, from the first sign-in to the reopened topic, with the client generated from docs/openapi.json.
import { readFileSync } from "node:fs";
import { administer } from "./administration.js";
import { check, first, form, got, Person, refused, type Schemas, type World } from "./client.js";

const DAY = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString();
const byId = (id: string) => ({ params: { path: { id } } });

function world(): World {
  const path = process.env["GROUPWORK_WORLD"];
  check(path !== undefined, "GROUPWORK_WORLD names the file with the world");
  return JSON.parse(readFileSync(path, "utf8"));
}

/** A group as its members and the staff of its class see it. */
function full(group: Schemas["KnownGroup"]): Extract<Schemas["KnownGroup"], { view: "FULL" }> {
  check(group.view === "FULL", "the group is shown in full");
  return group;
}

const here = world();
const { people } = here;
let steps = 0;
const done = (title: string) => console.log(`ok ${++steps} ${title}`);

const teacher = await Person.enter(here, people.teacher);
const admin = await Person.enter(here, people.admin);
const colleague = await Person.enter(here, people.colleague);
const [ben, ana, cem, dana] = [
  await Person.enter(here, people.ben),
  await Person.enter(here, people.ana),
  await Person.enter(here, people.cem),
  await Person.enter(here, people.dana),
];
const students = [];
for (const student of [ben, ana, cem, dana]) students.push(await student.me());
const studentIds = students.map(({ id }) => id);
const [benId, anaId, cemId, danaId] = studentIds;
check(benId !== undefined && anaId !== undefined && cemId !== undefined && danaId !== undefined, "four students");
const ada = await teacher.me();
check(ada.member?.role === "teacher", "Ada teaches");
done("everybody signs in and enters the school");

const school = await administer(here, admin, teacher, { tomId: (await colleague.me()).id, studentIds });
const { subject, class: seventh } = school;
done("the school has its subjects, homerooms and classes");

const newCourse = { name: "Rivers", description: "From the source to the sea.", classId: seventh.id, subjectId: subject.id };
refused(await ben.client.POST("/courses", { body: newCourse }), 403, "FORBIDDEN_ROLE");
const course = got(await teacher.client.POST("/courses", { body: newCourse }));
refused(await teacher.client.POST("/courses", { body: newCourse }), 409, "DUPLICATE_COURSE");
got(await teacher.client.PATCH("/courses/{id}", { ...byId(course.id), body: { description: "From the source to the mouth." } }));
check(first(got(await teacher.client.GET("/courses", { params: { query: { search: "riv" } } }))).id === course.id, "the course is found");
done("a course");

const newGroup = { classId: seventh.id, courseId: course.id };
const bridge = got(
  await teacher.client.POST("/groups", { body: { ...newGroup, name: "Bridge", studentIds: [benId, anaId] } }),
);
const source = got(
  await teacher.client.POST("/groups", {
    body: { ...newGroup, name: "Source", displayName: "The source", startDate: inDays(7), studentIds: [danaId] },
  }),
);
check(source.isHidden === true && bridge.isHidden === false, "the group of next week is hidden");
refused(await dana.client.GET("/groups/{id}", byId(source.id)), 404, "NOT_FOUND");
const joined = got(
  await teacher.client.POST("/groups/{id}/members", { ...byId(bridge.id), body: { studentIds: [cemId] } }),
);
check(joined.members.length === 3, "three members");
got(await teacher.client.PATCH("/groups/{id}", { ...byId(bridge.id), body: { displayName: "At the bridge" } }));
const seen = full(got(await ben.client.GET("/groups/{id}", byId(bridge.id))));
check(seen.members.some(({ userId }) => userId === anaId), "Ben sees that Ana is in the group");
const outline = got(await colleague.client.GET("/groups/{id}", byId(bridge.id)));
check(outline.view === "OUTLINE" && outline.memberCount === 3 && !("members" in outline), "a colleague sees an outline");
check(first(got(await ben.client.GET("/groups"))).view === "FULL", "a list names the view of each group");
const roster = first(got(await ben.client.GET("/classes/{id}/students", byId(seventh.id))));
check(roster.view === "OUTLINE" && !("email" in roster), "students know class mates by name");
const whole = first(got(await teacher.client.GET("/classes/{id}/students", byId(seventh.id))));
check(whole.view === "FULL" && whole.user.email.includes("@"), "the teacher knows addresses and groups");
got(await teacher.client.GET("/classes/{id}/groups", byId(seventh.id)));
got(await teacher.client.GET("/classes/{id}/ungrouped", byId(seventh.id)));
got(await teacher.client.POST("/groups/{id}/attachments", { ...byId(bridge.id), body: { file: "map.txt" }, bodySerializer: form("map.txt", "Here is the bridge.") }));
const map = first(got(await ben.client.GET("/groups/{id}/attachments", byId(bridge.id))));
const inBridge = { params: { path: { id: bridge.id, attachmentId: map.id } } };
const mapText = got(await ben.client.GET("/groups/{id}/attachments/{attachmentId}/download", { ...inBridge, parseAs: "text" }));
check(mapText === "Here is the bridge.", "the file of the group");
done("groups: hidden until their start, an outline for colleagues");

const newTopic = {
  title: "The river",
  description: "Every group writes a page about the river.",
  deadline: inDays(3),
  classId: seventh.id,
  courseId: course.id,
  isShared: false,
  maxPoints: 15,
  groups: [{ groupId: bridge.id, descriptionOverride: "Your group measures at the bridge." }, { groupId: source.id }],
};
const topic = got(await teacher.client.POST("/assignments", { body: newTopic }));
const link = topic.groupAssignments.find(({ groupId }) => groupId === bridge.id);
check(link?.effectiveDescription === "Your group measures at the bridge.", "the group has a text of its own");
const ofTopic = byId(topic.id);
got(await teacher.client.PATCH("/assignments/{id}", { ...ofTopic, body: { gradeScale: "1-6" } }));
const sheet = got(
  await teacher.client.POST("/assignments/{id}/attachments", {
    ...ofTopic,
    body: { file: "questions.txt" },
    bodySerializer: form("questions.txt", "How deep? How wide? How cold?"),
  }),
);
const own = got(
  await teacher.client.POST("/assignments/{id}/attachments", {
    ...ofTopic,
    body: { file: "bridge.txt", groupAssignmentId: link.id },
    bodySerializer: form("bridge.txt", "Measure below the second arch.", { groupAssignmentId: link.id }),
  }),
);
check(own.groupAssignmentId === link.id && sheet.groupAssignmentId === null, "one file for all groups, one for the group");
const files = got(await ben.client.GET("/assignments/{id}/attachments", ofTopic));
check(files.length === 2, "the group sees both files");
const sheetPath = { params: { path: { id: topic.id, attachmentId: sheet.id } } };
got(await ben.client.GET("/assignments/{id}/attachments/{attachmentId}/download", { ...sheetPath, parseAs: "text" }));
const bulk = { deadline: inDays(5) };
const preview = got(await teacher.client.PATCH("/assignments/{id}/bulk", { params: { path: { id: topic.id }, query: { dryRun: "1" } }, body: bulk }));
check(preview.result === "PREVIEW" && preview.count === 2, "a preview names two groups");
const edited = got(await teacher.client.PATCH("/assignments/{id}/bulk", { ...ofTopic, body: bulk }));
check(edited.result === "DONE" && edited.assignment.id === topic.id, "the bulk edit is done");
got(
  await teacher.client.PATCH("/assignments/{id}/groups/{groupId}", {
    params: { path: { id: topic.id, groupId: bridge.id } },
    body: { lateAllowedUntil: inDays(6) },
  }),
);
got(await teacher.client.POST("/assignments/{id}/groups", { ...ofTopic, body: { groupIds: [bridge.id] } }));
const shown = got(await ben.client.GET("/assignments/{id}", ofTopic));
check(shown.view === "FULL" && first(shown.groupAssignments).groupId === bridge.id, "Ben sees the topic with the own group");
check(got(await colleague.client.GET("/assignments/{id}", ofTopic)).view === "OUTLINE", "a colleague sees its outline");
got(await ben.client.GET("/assignments"));
got(await teacher.client.GET("/classes/{id}/assignments", byId(seventh.id)));
const inCourse = got(await teacher.client.GET("/courses/{id}", byId(course.id)));
check(first(inCourse.groups).view === "SUMMARY" && first(inCourse.assignments).view === "SUMMARY", "the course lists both");
done("a topic with a text and a file for one group");

const room = got(await ben.client.GET("/workrooms/group/{groupId}", { params: { path: { groupId: bridge.id } } }));
const inRoom = byId(room.id);
const page = got(
  await ben.client.POST("/workrooms/{id}/documents", { ...inRoom, body: { title: "Our page", documentType: "word", assignmentId: topic.id } }),
);
check(page.status === "DRAFT" && page.canEdit === true && page.fileExtension === "docx", "a blank document");
const notes = got(
  await ana.client.POST("/workrooms/{id}/documents", {
    ...inRoom,
    body: { file: "measurements.txt", title: "Measurements", assignmentId: topic.id },
    bodySerializer: form("measurements.txt", "Depth: 1.4 m", { title: "Measurements", assignmentId: topic.id }),
  }),
);
const ofNotes = byId(notes.id);
const scratch = got(await cem.client.POST("/workrooms/{id}/documents", { ...inRoom, body: { title: "Scratch", documentType: "cell" } }));
got(await cem.client.DELETE("/workrooms/documents/{id}", byId(scratch.id)));
const config = got(await ben.client.GET("/workrooms/documents/{id}/editor-config", byId(page.id)));
check(config.editorConfig.mode === "edit" && config.editorConfig.user.id === benId, "Ben may write");
got(await ben.client.POST("/workrooms/documents/{id}/flushed", byId(page.id)));
const written = got(
  await ana.client.PUT("/workrooms/documents/{id}/content", {
    ...ofNotes,
    body: { file: "measurements.txt" },
    bodySerializer: form("measurements.txt", "Depth: 1.4 m\nWidth: 22 m"),
  }),
);
check(written.version > notes.version, "a new version");
got(await ana.client.PATCH("/workrooms/documents/{id}", { ...ofNotes, body: { title: "What we measured" } }));
const versions = got(await ben.client.GET("/workrooms/documents/{id}/versions", ofNotes));
const former = versions.at(-1);
check(former !== undefined && versions.length > 1, "the former version is kept");
const ofFormer = { params: { path: { id: notes.id, version: former.version } } };
got(await ben.client.GET("/workrooms/documents/{id}/versions/{version}/download", { ...ofFormer, parseAs: "text" }));
got(await ben.client.POST("/workrooms/documents/{id}/versions/{version}/restore", ofFormer));
got(await ben.client.GET("/workrooms/documents/{id}/download", { ...ofNotes, parseAs: "text" }));
got(await ben.client.GET("/workrooms/{id}/documents", inRoom));
got(await ben.client.GET("/workrooms"));
got(await ben.client.GET("/workrooms/{id}", inRoom));
done("documents: a blank one, an uploaded one, its versions");

const hello = got(
  await ben.client.POST("/workrooms/{id}/messages", { ...inRoom, body: { content: "Who has the thermometer?", clientMessageId: "ben-1" } }),
);
const photo = got(
  await ana.client.POST("/workrooms/{id}/messages/attachments", {
    ...inRoom,
    body: { file: "arch.txt" },
    bodySerializer: form("arch.txt", "The second arch."),
  }),
);
const reply = got(
  await ana.client.POST("/workrooms/{id}/messages", { ...inRoom, body: { content: "Me.", replyToId: hello.id, attachmentIds: [photo.id] } }),
);
const ofPhoto = { params: { path: { id: room.id, attachmentId: photo.id } } };
got(await ben.client.GET("/workrooms/{id}/messages/attachments/{attachmentId}/download", { ...ofPhoto, parseAs: "text" }));
const ofHello = { params: { path: { id: room.id, messageId: hello.id } } };
got(await ben.client.PATCH("/workrooms/{id}/messages/{messageId}", { ...ofHello, body: { content: "Who has our thermometer?" } }));
const chat = got(await cem.client.GET("/workrooms/{id}/messages", inRoom));
check(first(chat.data).id === reply.id, "the newest message comes first");
got(await cem.client.POST("/workrooms/{id}/read", { ...inRoom, body: { lastReadMessageId: reply.id } }));
got(await ben.client.DELETE("/workrooms/{id}/messages/{messageId}", ofHello));
const letter = got(
  await teacher.client.POST("/messages", { body: { classId: seventh.id, subject: "Boots", content: "Bring boots tomorrow." } }),
);
check(letter.kind === "DIRECT", "an announcement");
got(await ben.client.GET("/messages"));
got(await ben.client.GET("/messages/unread-count"));
got(await ben.client.GET("/messages/{id}", byId(letter.id)));
got(await ben.client.POST("/messages/{id}/read", byId(letter.id)));
got(await ben.client.DELETE("/messages/{id}", byId(letter.id)));
const rooms = got(await teacher.client.POST("/messages", { body: { assignmentId: topic.id, content: "Ten minutes left." } }));
check(rooms.kind === "ROOMS" && rooms.messages.length === 2, "one message in the room of each group");
done("chat and messages");

got(await ana.client.POST("/groups/{id}/help", { ...byId(bridge.id), body: { message: "The thermometer is broken." } }));
const board = got(await teacher.client.GET("/assignments/{id}/board", ofTopic));
check(first(board.helpQueue) === bridge.id, "the group asks for help");
got(await teacher.client.POST("/groups/{id}/help/claim", byId(bridge.id)));
got(await teacher.client.POST("/groups/{id}/help/resolve", { ...byId(bridge.id), body: { note: "A new one." } }));
done("a call for help");

const ofPage = byId(page.id);
got(await ben.client.GET("/assignments/submission-candidates", { params: { query: { groupId: bridge.id, documentId: page.id } } }));
const attempt = got(await ben.client.POST("/workrooms/documents/{id}/submit", { ...ofPage, body: { assignmentId: topic.id } }));
check(attempt.document.status === "SUBMITTED" && attempt.submission.attempt === 1, "the first attempt");
got(await ben.client.POST("/workrooms/documents/{id}/unsubmit", { ...ofPage, body: { reason: "A name is missing." } }));
const second = got(
  await ben.client.POST("/workrooms/documents/{id}/submit", { ...ofPage, body: { assignmentId: topic.id, note: "Now with all names." } }),
);
check(second.groupAssignment.currentSubmissionId === second.submission.id, "the second attempt is the current one");
const ofSubmission = byId(second.submission.id);
done("submit, unsubmit, submit again");

const draft = got(
  await teacher.client.PUT("/feedback/submissions/{id}/grade", { ...ofSubmission, body: { value: "3", points: 10 } }),
);
check(draft.grade?.status === "DRAFT", "a draft");
check(got(await ben.client.GET("/feedback/submissions/{id}", ofSubmission)).grade === null, "students do not see a draft");
const graded = got(
  await teacher.client.PUT("/feedback/submissions/{id}/grade", {
    ...ofSubmission,
    body: { value: "2", points: 12.5, memberGrades: [{ userId: anaId, value: "1", feedback: "All measurements are yours." }], publish: true },
  }),
);
check(graded.grade?.status === "PUBLISHED", "the grade is published");
const states = got(await teacher.client.GET("/feedback/submissions/{id}/grades", ofSubmission));
check(states.length === 2 && states.at(-1)?.value === "3", "staff read the former grade");
refused(await ben.client.GET("/feedback/submissions/{id}/grades", ofSubmission), 403, "FORBIDDEN_ROLE");
const remark = got(
  await teacher.client.POST("/feedback", { body: { submissionId: second.submission.id, text: "The drawing of the arch is very good." } }),
);
got(await teacher.client.PATCH("/feedback/{id}", { ...byId(remark.id), body: { text: "The drawing of the second arch is very good." } }));
const read = got(await ben.client.GET("/feedback", { params: { query: { submissionId: second.submission.id } } }));
check(first(read).text.includes("second arch"), "the group reads the feedback");
const returned = got(
  await teacher.client.POST("/feedback/submissions/{id}/return", { ...ofSubmission, body: { feedback: "Please add the width." } }),
);
check(returned.status === "RETURNED" && returned.currentSubmissionId === null, "returned for revision");
const third = got(await ben.client.POST("/workrooms/documents/{id}/submit", { ...ofPage, body: { assignmentId: topic.id } }));
const copy = first(third.submission.documents);
const ofCopy = { params: { path: { id: third.submission.id, documentId: copy.id } } };
got(await teacher.client.GET("/feedback/submissions/{id}/documents/{documentId}/download", { ...ofCopy, parseAs: "arrayBuffer" }));
const onDocument = got(await teacher.client.PUT("/workrooms/documents/{id}/grade", { ...ofPage, body: { value: "2", points: 13 } }));
check(onDocument.grade === "2", "a grade through the document");
check(got(await teacher.client.POST("/feedback/assignments/{id}/publish-grades", { ...ofTopic, body: { groupIds: [bridge.id] } })).published === 1, "published");
const table = `submissionId,userId,value\n${third.submission.id},,2\n`;
const imported = got(
  await teacher.client.POST("/assignments/{id}/grades/import", {
    params: { path: { id: topic.id }, query: { dryRun: "1" } },
    body: { file: "grades.csv" },
    bodySerializer: form("grades.csv", table),
  }),
);
check(imported.dryRun, "a preview of the import");
const history = got(await ben.client.GET("/feedback/group-assignments/{id}/submissions", byId(link.id)));
check(first(history).attempt === 3 && history.length === 3, "three attempts, newest first");
got(await teacher.client.GET("/assignments/submissions/overview", { params: { query: { classId: seventh.id } } }));
done("grades, feedback, return");

const finished = got(await teacher.client.POST("/assignments/{id}/finish", ofTopic));
check(finished.status === "FINISHED" && finished.lockedDocuments === 2, "both documents are locked");
const locked = got(await ben.client.GET("/workrooms/documents/{id}", ofPage));
check(locked.status === "LOCKED" && locked.statusBeforeLock === "SUBMITTED" && locked.canEdit === false, "the page is locked");
refused(await teacher.client.PATCH("/workrooms/documents/{id}", { ...ofPage, body: { title: "Too late" } }), 423, "DOCUMENT_LOCKED");
refused(await ben.client.POST("/assignments/{id}/reopen", ofTopic), 403, "FORBIDDEN_ROLE");
got(await ben.client.GET("/workrooms/documents/{id}/pdf", { ...ofPage, parseAs: "arrayBuffer" }));
got(await teacher.client.GET("/assignments/{id}/export.zip", { ...ofTopic, parseAs: "arrayBuffer" }));
got(await teacher.client.GET("/assignments/{id}/grades.csv", { ...ofTopic, parseAs: "text" }));
done("finish: locked for everybody, PDF and archive");

const reopened = got(await teacher.client.POST("/assignments/{id}/reopen", ofTopic));
check(reopened.status === "ACTIVE" && reopened.unlockedDocuments === 2, "both documents are unlocked");
check(got(await ben.client.GET("/workrooms/documents/{id}", ofPage)).status === "SUBMITTED", "submitted again");
check(got(await ana.client.GET("/workrooms/documents/{id}", ofNotes)).status === "DRAFT", "a draft again");
got(await teacher.client.GET("/groups/{id}/contributions", byId(bridge.id)));
const log = got(await admin.client.GET("/activity-logs", { params: { query: { groupId: bridge.id, limit: 5 } } }));
check(log.data.length === 5 && log.nextCursor !== null, "the activity log goes on");
got(await admin.client.GET("/activity-logs/export.csv", { parseAs: "text" }));
done("reopen: everything is restored");

const copyOfTopic = got(await teacher.client.POST("/assignments/{id}/clone", { ...ofTopic, body: { deadline: inDays(20), withFiles: true } }));
got(await teacher.client.POST("/assignments/{id}/groups", { ...byId(copyOfTopic.id), body: { groupIds: [bridge.id] } }));
const template = first(copyOfTopic.attachments);
got(await teacher.client.POST("/assignments/{id}/handouts", { ...byId(copyOfTopic.id), body: { templateAttachmentId: template.id, title: "Questions" } }));
got(await teacher.client.DELETE("/assignments/{id}/attachments/{attachmentId}", { params: { path: { id: copyOfTopic.id, attachmentId: template.id } } }));
got(await teacher.client.DELETE("/assignments/{id}/groups/{groupId}", { params: { path: { id: copyOfTopic.id, groupId: bridge.id } } }));
got(await teacher.client.DELETE("/assignments/{id}", byId(copyOfTopic.id)));
got(await teacher.client.DELETE("/feedback/{id}", byId(remark.id)));
got(await teacher.client.DELETE("/groups/{id}/attachments/{attachmentId}", inBridge));
const moved = got(
  await teacher.client.POST("/groups/{id}/members/{userId}/move", {
    params: { path: { id: bridge.id, userId: cemId } },
    body: { toGroupId: source.id },
  }),
);
check(full(got(await teacher.client.GET("/groups/{id}", byId(source.id)))).memberCount === 2, `moved: ${moved.to.id}`);
got(await teacher.client.DELETE("/groups/{id}/members/{userId}", { params: { path: { id: source.id, userId: cemId } } }));
const division = { classId: seventh.id, groupSize: 2, studentIds };
got(await teacher.client.POST("/groups/generate", { params: { query: { dryRun: "1" } }, body: { ...division, strategy: "random" } }));
const batch = got(
  await teacher.client.POST("/groups/batch", { body: { ...newGroup, groups: [{ name: "Delta", studentIds: [cemId] }, { name: "Weir" }] } }),
);
for (const group of batch) got(await teacher.client.DELETE("/groups/{id}", byId(group.id)));
const going = got(await teacher.client.DELETE("/courses/{id}", { params: { path: { id: course.id }, query: { dryRun: "1" } } }));
check(going.deletedGroups.length === 2 && going.deletedAssignments.length === 1, "what would go with the course");
await school.end();
got(await ben.client.POST("/auth/sign-out"));
refused(await ben.client.GET("/users/me"), 401, "UNAUTHENTICATED");
done("what is left is tidied up");
