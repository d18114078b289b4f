// Runs one lesson with the client generated from docs/openapi.json, from the first sign-in to the reopened topic.
import { readFileSync } from "node:fs";
import { administer } from "./administration.js";
import { check, first, form, dataOf, User, expectError, type Schemas, type World } from "./client.js";

const DAY = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString();
const byId = (id: string) => ({ params: { path: { id } } });

function readWorld(): World {
  const path = process.env["GROUPWORK_WORLD"];
  check(path !== undefined, "GROUPWORK_WORLD is the path of a file that describes the server and its users");
  return JSON.parse(readFileSync(path, "utf8"));
}

/** Narrows a group to the view of its members and of the staff of its class. */
function full(group: Schemas["VisibleGroup"]): Extract<Schemas["VisibleGroup"], { view: "FULL" }> {
  check(group.view === "FULL", "the group is shown in full");
  return group;
}

const world = readWorld();
const { people } = world;
let steps = 0;
const done = (title: string) => console.log(`ok ${++steps} ${title}`);

const teacher = await User.signInToOrganization(world, people.teacher);
const admin = await User.signInToOrganization(world, people.admin);
const colleague = await User.signInToOrganization(world, people.colleague);
const [ben, ana, cem, dana] = [
  await User.signInToOrganization(world, people.ben),
  await User.signInToOrganization(world, people.ana),
  await User.signInToOrganization(world, people.cem),
  await User.signInToOrganization(world, people.dana),
];
const students = [];
for (const student of [ben, ana, cem, dana]) students.push(await student.me());
const studentIds = students.map(({ id }) => id);
const [benId, anaId, cemId, danaId] = studentIds;
check(benId !== undefined && anaId !== undefined && cemId !== undefined && danaId !== undefined, "four students");
const ada = await teacher.me();
check(ada.member?.role === "teacher", "Ada teaches");
done("all users sign in and activate the school");

const school = await administer(world, admin, teacher, { tomId: (await colleague.me()).id, studentIds });
const { subject, class: seventh } = school;
done("the school has its subjects, homerooms and classes");

const newCourse = { name: "Rivers", description: "From the source to the sea.", classId: seventh.id, subjectId: subject.id };
expectError(await ben.client.POST("/courses", { body: newCourse }), 403, "FORBIDDEN_ROLE");
const course = dataOf(await teacher.client.POST("/courses", { body: newCourse }));
expectError(await teacher.client.POST("/courses", { body: newCourse }), 409, "DUPLICATE_COURSE");
dataOf(await teacher.client.PATCH("/courses/{id}", { ...byId(course.id), body: { description: "From the source to the mouth." } }));
check(first(dataOf(await teacher.client.GET("/courses", { params: { query: { search: "riv" } } }))).id === course.id, "the course is found");
done("a course");

const newGroup = { classId: seventh.id, courseId: course.id };
const bridge = dataOf(
  await teacher.client.POST("/groups", { body: { ...newGroup, name: "Bridge", studentIds: [benId, anaId] } }),
);
const source = dataOf(
  await teacher.client.POST("/groups", {
    body: { ...newGroup, name: "Source", displayName: "The source", startDate: inDays(7), studentIds: [danaId] },
  }),
);
check(source.isHidden === true && bridge.isHidden === false, "the group of next week is hidden");
expectError(await dana.client.GET("/groups/{id}", byId(source.id)), 404, "NOT_FOUND");
const joined = dataOf(
  await teacher.client.POST("/groups/{id}/members", { ...byId(bridge.id), body: { studentIds: [cemId] } }),
);
check(joined.members.length === 3, "three members");
dataOf(await teacher.client.PATCH("/groups/{id}", { ...byId(bridge.id), body: { displayName: "At the bridge" } }));
const seen = full(dataOf(await ben.client.GET("/groups/{id}", byId(bridge.id))));
check(seen.members.some(({ userId }) => userId === anaId), "Ben sees that Ana is in the group");
const outline = dataOf(await colleague.client.GET("/groups/{id}", byId(bridge.id)));
check(outline.view === "OUTLINE" && outline.memberCount === 3 && !("members" in outline), "a colleague sees an outline");
check(first(dataOf(await ben.client.GET("/groups"))).view === "FULL", "a list names the view of each group");
const roster = first(dataOf(await ben.client.GET("/classes/{id}/students", byId(seventh.id))));
check(roster.view === "OUTLINE" && !("email" in roster), "students read class mates by name");
const whole = first(dataOf(await teacher.client.GET("/classes/{id}/students", byId(seventh.id))));
check(whole.view === "FULL" && (whole.user.email ?? "").includes("@"), "the teacher reads addresses and groups");
dataOf(await teacher.client.GET("/classes/{id}/groups", byId(seventh.id)));
dataOf(await teacher.client.GET("/classes/{id}/ungrouped", byId(seventh.id)));
dataOf(await teacher.client.POST("/groups/{id}/attachments", { ...byId(bridge.id), body: { file: "map.txt" }, bodySerializer: form("map.txt", "Here is the bridge.") }));
const map = first(dataOf(await ben.client.GET("/groups/{id}/attachments", byId(bridge.id))));
const inBridge = { params: { path: { id: bridge.id, attachmentId: map.id } } };
const mapText = dataOf(await ben.client.GET("/groups/{id}/attachments/{attachmentId}/download", { ...inBridge, parseAs: "text" }));
check(mapText === "Here is the bridge.", "the file of the group");
done("groups: hidden until their start, an outline for other teachers");

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
const topic = dataOf(await teacher.client.POST("/assignments", { body: newTopic }));
const link = topic.groupAssignments.find(({ groupId }) => groupId === bridge.id);
check(link?.effectiveDescription === "Your group measures at the bridge.", "the group has its own text");
const ofTopic = byId(topic.id);
dataOf(await teacher.client.PATCH("/assignments/{id}", { ...ofTopic, body: { gradeScale: "1-6" } }));
const sheet = dataOf(
  await teacher.client.POST("/assignments/{id}/attachments", {
    ...ofTopic,
    body: { file: "questions.txt" },
    bodySerializer: form("questions.txt", "How deep? How wide? How cold?"),
  }),
);
const own = dataOf(
  await teacher.client.POST("/assignments/{id}/attachments", {
    ...ofTopic,
    body: { file: "bridge.txt", groupAssignmentId: link.id },
    bodySerializer: form("bridge.txt", "Measure below the second arch.", { groupAssignmentId: link.id }),
  }),
);
check(own.groupAssignmentId === link.id && sheet.groupAssignmentId === null, "one file for all groups, one for the group");
const files = dataOf(await ben.client.GET("/assignments/{id}/attachments", ofTopic));
check(files.length === 2, "the group sees both files");
const sheetPath = { params: { path: { id: topic.id, attachmentId: sheet.id } } };
dataOf(await ben.client.GET("/assignments/{id}/attachments/{attachmentId}/download", { ...sheetPath, parseAs: "text" }));
const bulk = { deadline: inDays(5) };
const preview = dataOf(await teacher.client.PATCH("/assignments/{id}/bulk", { params: { path: { id: topic.id }, query: { dryRun: "1" } }, body: bulk }));
check(preview.result === "PREVIEW" && preview.count === 2, "a preview names two groups");
const edited = dataOf(await teacher.client.PATCH("/assignments/{id}/bulk", { ...ofTopic, body: bulk }));
check(edited.result === "DONE" && edited.assignment.id === topic.id, "the bulk edit is done");
dataOf(
  await teacher.client.PATCH("/assignments/{id}/groups/{groupId}", {
    params: { path: { id: topic.id, groupId: bridge.id } },
    body: { lateAllowedUntil: inDays(6) },
  }),
);
dataOf(await teacher.client.POST("/assignments/{id}/groups", { ...ofTopic, body: { groupIds: [bridge.id] } }));
const shown = dataOf(await ben.client.GET("/assignments/{id}", ofTopic));
check(shown.view === "FULL" && first(shown.groupAssignments).groupId === bridge.id, "Ben sees the topic with the own group");
check(dataOf(await colleague.client.GET("/assignments/{id}", ofTopic)).view === "OUTLINE", "a colleague sees its outline");
dataOf(await ben.client.GET("/assignments"));
dataOf(await teacher.client.GET("/classes/{id}/assignments", byId(seventh.id)));
const inCourse = dataOf(await teacher.client.GET("/courses/{id}", byId(course.id)));
check(first(inCourse.groups).view === "SUMMARY" && first(inCourse.assignments).view === "SUMMARY", "the course lists both");
done("a topic with a text and a file for one group");

const room = dataOf(await ben.client.GET("/workrooms/group/{groupId}", { params: { path: { groupId: bridge.id } } }));
const inRoom = byId(room.id);
const page = dataOf(
  await ben.client.POST("/workrooms/{id}/documents", { ...inRoom, body: { title: "Our page", documentType: "word", assignmentId: topic.id } }),
);
check(page.status === "DRAFT" && page.canEdit === true && page.fileExtension === "docx", "a blank document");
const notes = dataOf(
  await ana.client.POST("/workrooms/{id}/documents", {
    ...inRoom,
    body: { file: "measurements.txt", title: "Measurements", assignmentId: topic.id },
    bodySerializer: form("measurements.txt", "Depth: 1.4 m", { title: "Measurements", assignmentId: topic.id }),
  }),
);
const ofNotes = byId(notes.id);
const scratch = dataOf(await cem.client.POST("/workrooms/{id}/documents", { ...inRoom, body: { title: "Scratch", documentType: "cell" } }));
dataOf(await cem.client.DELETE("/workrooms/documents/{id}", byId(scratch.id)));
const config = dataOf(await ben.client.GET("/workrooms/documents/{id}/editor-config", byId(page.id)));
check(config.editorConfig.mode === "edit" && config.editorConfig.user.id === benId, "Ben may write");
dataOf(await ben.client.POST("/workrooms/documents/{id}/flushed", byId(page.id)));
const written = dataOf(
  await ana.client.PUT("/workrooms/documents/{id}/content", {
    ...ofNotes,
    body: { file: "measurements.txt" },
    bodySerializer: form("measurements.txt", "Depth: 1.4 m\nWidth: 22 m"),
  }),
);
check(written.version > notes.version, "a new version");
dataOf(await ana.client.PATCH("/workrooms/documents/{id}", { ...ofNotes, body: { title: "What we measured" } }));
const versions = dataOf(await ben.client.GET("/workrooms/documents/{id}/versions", ofNotes));
const former = versions.at(-1);
check(former !== undefined && versions.length > 1, "the former version is kept");
const ofFormer = { params: { path: { id: notes.id, version: former.version } } };
dataOf(await ben.client.GET("/workrooms/documents/{id}/versions/{version}/download", { ...ofFormer, parseAs: "text" }));
dataOf(await ben.client.POST("/workrooms/documents/{id}/versions/{version}/restore", ofFormer));
dataOf(await ben.client.GET("/workrooms/documents/{id}/download", { ...ofNotes, parseAs: "text" }));
dataOf(await ben.client.GET("/workrooms/{id}/documents", inRoom));
dataOf(await ben.client.GET("/workrooms"));
dataOf(await ben.client.GET("/workrooms/{id}", inRoom));
done("documents: a blank one, an uploaded one, its versions");

const hello = dataOf(
  await ben.client.POST("/workrooms/{id}/messages", { ...inRoom, body: { content: "Who has the thermometer?", clientMessageId: "ben-1" } }),
);
const photo = dataOf(
  await ana.client.POST("/workrooms/{id}/messages/attachments", {
    ...inRoom,
    body: { file: "arch.txt" },
    bodySerializer: form("arch.txt", "The second arch."),
  }),
);
const reply = dataOf(
  await ana.client.POST("/workrooms/{id}/messages", { ...inRoom, body: { content: "Me.", replyToId: hello.id, attachmentIds: [photo.id] } }),
);
const ofPhoto = { params: { path: { id: room.id, attachmentId: photo.id } } };
dataOf(await ben.client.GET("/workrooms/{id}/messages/attachments/{attachmentId}/download", { ...ofPhoto, parseAs: "text" }));
const ofHello = { params: { path: { id: room.id, messageId: hello.id } } };
dataOf(await ben.client.PATCH("/workrooms/{id}/messages/{messageId}", { ...ofHello, body: { content: "Who has our thermometer?" } }));
const chat = dataOf(await cem.client.GET("/workrooms/{id}/messages", inRoom));
check(first(chat.data).id === reply.id, "the newest message comes first");
dataOf(await cem.client.POST("/workrooms/{id}/read", { ...inRoom, body: { lastReadMessageId: reply.id } }));
dataOf(await ben.client.DELETE("/workrooms/{id}/messages/{messageId}", ofHello));
const announcement = dataOf(
  await teacher.client.POST("/messages", { body: { classId: seventh.id, subject: "Boots", content: "Bring boots tomorrow." } }),
);
check(announcement.kind === "DIRECT", "an announcement");
dataOf(await ben.client.GET("/messages"));
dataOf(await ben.client.GET("/messages/unread-count"));
dataOf(await ben.client.GET("/messages/{id}", byId(announcement.id)));
dataOf(await ben.client.POST("/messages/{id}/read", byId(announcement.id)));
dataOf(await ben.client.DELETE("/messages/{id}", byId(announcement.id)));
const rooms = dataOf(await teacher.client.POST("/messages", { body: { assignmentId: topic.id, content: "Ten minutes left." } }));
check(rooms.kind === "ROOMS" && rooms.messages.length === 2, "one message in the room of each group");
done("chat and messages");

dataOf(await ana.client.POST("/groups/{id}/help", { ...byId(bridge.id), body: { message: "The thermometer is broken." } }));
const board = dataOf(await teacher.client.GET("/assignments/{id}/board", ofTopic));
check(first(board.helpQueue) === bridge.id, "the group requests help");
dataOf(await teacher.client.POST("/groups/{id}/help/claim", byId(bridge.id)));
dataOf(await teacher.client.POST("/groups/{id}/help/resolve", { ...byId(bridge.id), body: { note: "A new one." } }));
done("a help request");

const ofPage = byId(page.id);
dataOf(await ben.client.GET("/assignments/submission-candidates", { params: { query: { groupId: bridge.id, documentId: page.id } } }));
const attempt = dataOf(await ben.client.POST("/workrooms/documents/{id}/submit", { ...ofPage, body: { assignmentId: topic.id } }));
check(attempt.document.status === "SUBMITTED" && attempt.submission.attempt === 1, "the first attempt");
dataOf(await ben.client.POST("/workrooms/documents/{id}/unsubmit", { ...ofPage, body: { reason: "A name is missing." } }));
const second = dataOf(
  await ben.client.POST("/workrooms/documents/{id}/submit", { ...ofPage, body: { assignmentId: topic.id, note: "Now with all names." } }),
);
check(second.groupAssignment.currentSubmissionId === second.submission.id, "the second attempt is the current one");
const ofSubmission = byId(second.submission.id);
done("submit, unsubmit, submit again");

const draft = dataOf(
  await teacher.client.PUT("/feedback/submissions/{id}/grade", { ...ofSubmission, body: { value: "3", points: 10 } }),
);
check(draft.grade?.status === "DRAFT", "a draft");
check(dataOf(await ben.client.GET("/feedback/submissions/{id}", ofSubmission)).grade === null, "students do not see a draft");
const graded = dataOf(
  await teacher.client.PUT("/feedback/submissions/{id}/grade", {
    ...ofSubmission,
    body: { value: "2", points: 12.5, memberGrades: [{ userId: anaId, value: "1", feedback: "All measurements are yours." }], publish: true },
  }),
);
check(graded.grade?.status === "PUBLISHED", "the grade is published");
const states = dataOf(await teacher.client.GET("/feedback/submissions/{id}/grades", ofSubmission));
check(states.length === 2 && states.at(-1)?.value === "3", "staff read the former grade");
expectError(await ben.client.GET("/feedback/submissions/{id}/grades", ofSubmission), 403, "FORBIDDEN_ROLE");
const remark = dataOf(
  await teacher.client.POST("/feedback", { body: { submissionId: second.submission.id, text: "The drawing of the arch is very good." } }),
);
dataOf(await teacher.client.PATCH("/feedback/{id}", { ...byId(remark.id), body: { text: "The drawing of the second arch is very good." } }));
const read = dataOf(await ben.client.GET("/feedback", { params: { query: { submissionId: second.submission.id } } }));
check(first(read).text.includes("second arch"), "the group reads the feedback");
const returned = dataOf(
  await teacher.client.POST("/feedback/submissions/{id}/return", { ...ofSubmission, body: { feedback: "Please add the width." } }),
);
check(returned.status === "RETURNED" && returned.currentSubmissionId === null, "returned for revision");
const third = dataOf(await ben.client.POST("/workrooms/documents/{id}/submit", { ...ofPage, body: { assignmentId: topic.id } }));
const copy = first(third.submission.documents);
const ofCopy = { params: { path: { id: third.submission.id, documentId: copy.id } } };
dataOf(await teacher.client.GET("/feedback/submissions/{id}/documents/{documentId}/download", { ...ofCopy, parseAs: "arrayBuffer" }));
const onDocument = dataOf(await teacher.client.PUT("/workrooms/documents/{id}/grade", { ...ofPage, body: { value: "2", points: 13 } }));
check(onDocument.grade === "2", "a grade through the document");
check(dataOf(await teacher.client.POST("/feedback/assignments/{id}/publish-grades", { ...ofTopic, body: { groupIds: [bridge.id] } })).published === 1, "published");
const table = `submissionId,userId,value\n${third.submission.id},,2\n`;
const imported = dataOf(
  await teacher.client.POST("/assignments/{id}/grades/import", {
    params: { path: { id: topic.id }, query: { dryRun: "1" } },
    body: { file: "grades.csv" },
    bodySerializer: form("grades.csv", table),
  }),
);
check(imported.dryRun, "a preview of the import");
const history = dataOf(await ben.client.GET("/feedback/group-assignments/{id}/submissions", byId(link.id)));
check(first(history).attempt === 3 && history.length === 3, "three attempts, newest first");
dataOf(await teacher.client.GET("/assignments/submissions/overview", { params: { query: { classId: seventh.id } } }));
done("grades, feedback, return");

const finished = dataOf(await teacher.client.POST("/assignments/{id}/finish", ofTopic));
check(finished.status === "FINISHED" && finished.lockedDocuments === 2, "both documents are locked");
const locked = dataOf(await ben.client.GET("/workrooms/documents/{id}", ofPage));
check(locked.status === "LOCKED" && locked.statusBeforeLock === "SUBMITTED" && locked.canEdit === false, "the page is locked");
expectError(await teacher.client.PATCH("/workrooms/documents/{id}", { ...ofPage, body: { title: "Too late" } }), 423, "DOCUMENT_LOCKED");
expectError(await ben.client.POST("/assignments/{id}/reopen", ofTopic), 403, "FORBIDDEN_ROLE");
dataOf(await ben.client.GET("/workrooms/documents/{id}/pdf", { ...ofPage, parseAs: "arrayBuffer" }));
dataOf(await teacher.client.GET("/assignments/{id}/export.zip", { ...ofTopic, parseAs: "arrayBuffer" }));
dataOf(await teacher.client.GET("/assignments/{id}/grades.csv", { ...ofTopic, parseAs: "text" }));
done("finish: locked for every role, PDF and archive");

const reopened = dataOf(await teacher.client.POST("/assignments/{id}/reopen", ofTopic));
check(reopened.status === "ACTIVE" && reopened.unlockedDocuments === 2, "both documents are unlocked");
check(dataOf(await ben.client.GET("/workrooms/documents/{id}", ofPage)).status === "SUBMITTED", "submitted again");
check(dataOf(await ana.client.GET("/workrooms/documents/{id}", ofNotes)).status === "DRAFT", "a draft again");
dataOf(await teacher.client.GET("/groups/{id}/contributions", byId(bridge.id)));
const log = dataOf(await admin.client.GET("/activity-logs", { params: { query: { groupId: bridge.id, limit: 5 } } }));
check(log.data.length === 5 && log.nextCursor !== null, "the activity log has a further page");
dataOf(await admin.client.GET("/activity-logs/export.csv", { parseAs: "text" }));
done("reopen: everything is restored");

const copyOfTopic = dataOf(await teacher.client.POST("/assignments/{id}/clone", { ...ofTopic, body: { deadline: inDays(20), withFiles: true } }));
dataOf(await teacher.client.POST("/assignments/{id}/groups", { ...byId(copyOfTopic.id), body: { groupIds: [bridge.id] } }));
const template = first(copyOfTopic.attachments);
dataOf(await teacher.client.POST("/assignments/{id}/handouts", { ...byId(copyOfTopic.id), body: { templateAttachmentId: template.id, title: "Questions" } }));
dataOf(await teacher.client.DELETE("/assignments/{id}/attachments/{attachmentId}", { params: { path: { id: copyOfTopic.id, attachmentId: template.id } } }));
dataOf(await teacher.client.DELETE("/assignments/{id}/groups/{groupId}", { params: { path: { id: copyOfTopic.id, groupId: bridge.id } } }));
dataOf(await teacher.client.DELETE("/assignments/{id}", byId(copyOfTopic.id)));
dataOf(await teacher.client.DELETE("/feedback/{id}", byId(remark.id)));
dataOf(await teacher.client.DELETE("/groups/{id}/attachments/{attachmentId}", inBridge));
const moved = dataOf(
  await teacher.client.POST("/groups/{id}/members/{userId}/move", {
    params: { path: { id: bridge.id, userId: cemId } },
    body: { toGroupId: source.id },
  }),
);
check(full(dataOf(await teacher.client.GET("/groups/{id}", byId(source.id)))).memberCount === 2, `moved: ${moved.to.id}`);
dataOf(await teacher.client.DELETE("/groups/{id}/members/{userId}", { params: { path: { id: source.id, userId: cemId } } }));
const division = { classId: seventh.id, groupSize: 2, studentIds };
dataOf(await teacher.client.POST("/groups/generate", { params: { query: { dryRun: "1" } }, body: { ...division, strategy: "random" } }));
const batch = dataOf(
  await teacher.client.POST("/groups/batch", { body: { ...newGroup, groups: [{ name: "Delta", studentIds: [cemId] }, { name: "Weir" }] } }),
);
for (const group of batch) dataOf(await teacher.client.DELETE("/groups/{id}", byId(group.id)));
const going = dataOf(await teacher.client.DELETE("/courses/{id}", { params: { path: { id: course.id }, query: { dryRun: "1" } } }));
check(going.deletedGroups.length === 2 && going.deletedAssignments.length === 1, "what the deletion of the course would delete");
await school.cleanUp();
dataOf(await ben.client.POST("/auth/sign-out"));
expectError(await ben.client.GET("/users/me"), 401, "UNAUTHENTICATED");
done("the remaining objects are deleted");
