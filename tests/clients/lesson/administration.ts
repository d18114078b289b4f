// Administration of school and platform around a lesson: users, homerooms, classes, settings, sign-ins.
import { check, first, form, got, Person, type Schemas, type World } from "./client.js";

const byId = (id: string) => ({ params: { path: { id } } });

export interface School {
  readonly subject: Schemas["Subject"];
  readonly class: Schemas["Class"];
  /** Reverts what the lesson no longer needs. */
  end(): Promise<void>;
}

interface Staffing {
  readonly tomId: string;
  readonly studentIds: string[];
}

export async function administer(here: World, admin: Person, teacher: Person, staff: Staffing): Promise<School> {
  const { tomId, studentIds } = staff;
  const { client } = admin;
  const subject = got(await client.POST("/subjects", { body: { name: "Geography", code: "GEO", color: "#1f7a4d" } }));
  got(await client.PATCH("/subjects/{id}", { ...byId(subject.id), body: { description: "Rivers, maps and weather." } }));
  got(await client.GET("/subjects/{id}", byId(subject.id)));
  got(await teacher.client.GET("/subjects"));

  const ada = await teacher.me();
  const homeroom = got(
    await client.POST("/homerooms", { body: { name: "7b", gradeLevel: "7", academicYear: "2026/2027", teacherId: ada.id } }),
  );
  got(await client.PATCH("/homerooms/{id}", { ...byId(homeroom.id), body: { gradeLevel: "Grade 7" } }));
  got(await client.POST("/homerooms/{id}/students", { ...byId(homeroom.id), body: { studentIds } }));
  got(await client.GET("/homerooms/{id}", byId(homeroom.id)));
  got(await client.GET("/homerooms/{id}/students", byId(homeroom.id)));
  got(await teacher.client.GET("/homerooms"));

  const newClass = { name: "Geography 7b", academicYear: "2026/2027", semester: "1", subjectIds: [subject.id], homeroomId: homeroom.id };
  const created = got(await teacher.client.POST("/classes", { body: newClass }));
  check(created.teacherId === ada.id && created.status === "ACTIVE", "Ada owns the class");
  const seventh = got(await teacher.client.PATCH("/classes/{id}", { ...byId(created.id), body: { startDate: "2026-08-20" } }));
  got(await teacher.client.POST("/classes/{id}/students", { ...byId(seventh.id), body: { studentIds } }));
  const [benId, , cemId] = studentIds;
  check(benId !== undefined && cemId !== undefined, "four students");
  const ofCem = { params: { path: { id: seventh.id, studentId: cemId } } };
  got(await teacher.client.PATCH("/classes/{id}/students/{studentId}", { ...ofCem, body: { completedAt: null } }));
  got(await teacher.client.POST("/classes/{id}/teachers", { ...byId(seventh.id), body: { userId: tomId } }));
  const ofTom = { params: { path: { id: seventh.id, userId: tomId } } };
  got(await teacher.client.DELETE("/classes/{id}/teachers/{userId}", ofTom));
  got(await teacher.client.GET("/classes"));
  got(await teacher.client.GET("/classes/{id}", byId(seventh.id)));
  got(await teacher.client.GET("/classes/{id}/courses", byId(seventh.id)));

  const fay = got(
    await client.POST("/users", { body: { name: "Fay Lang", email: "fay@north.example", role: "STUDENT", classIds: [seventh.id] } }),
  );
  check(fay.result === "CREATED" && fay.temporaryPassword !== undefined, "a new account with a temporary password");
  got(await client.PATCH("/users/{id}", { ...byId(fay.id), body: { firstName: "Fay", lastName: "Lang", externalId: "N-105" } }));
  const account = got(await client.GET("/users/{id}", byId(fay.id)));
  check(account.view === "FULL" && account.externalId === "N-105", "the administrator reads the account");
  const seen = first(got(await teacher.client.GET("/users", { params: { query: { search: "fay" } } })).data);
  check(seen.view === "OUTLINE" && seen.id === fay.id, "a teacher reads an outline");
  got(await client.POST("/users/{id}/reset-password", byId(fay.id)));
  got(await client.GET("/users/{id}/groups", byId(fay.id)));
  const table = "email,firstName,lastName,role\ngil@north.example,Gil,Moreau,student\n";
  got(
    await client.POST("/users/import", {
      params: { query: { dryRun: "1" } },
      body: { file: "people.csv" },
      bodySerializer: form("people.csv", table),
    }),
  );
  const invited = got(await client.POST("/users", { body: { name: "Zoe Martin", email: "zoe@south.example", role: "TEACHER" } }));
  check(invited.result === "INVITED", "an address with an account elsewhere is invited");
  got(await client.GET("/admin/invitations"));
  got(await client.GET("/auth/organization/list-invitations"));
  got(await client.POST("/auth/organization/cancel-invitation", { body: { invitationId: invited.invitation.id } }));

  got(await client.GET("/admin/settings"));
  got(await client.PATCH("/admin/settings", { body: { metadata: { timezone: "Europe/Berlin", gradeScale: "1-6" } } }));
  got(await client.GET("/admin/stats"));
  got(await client.GET("/admin/storage"));
  got(await client.GET("/admin/sessions"));
  const members = got(await client.GET("/admin/members"));
  const gone = members.data.find(({ userId }) => userId === fay.id);
  check(gone !== undefined, "Fay is a member");
  got(await client.PATCH("/admin/members/{id}", { ...byId(gone.id), body: { role: "student" } }));
  const gil = got(await client.POST("/users", { body: { name: "Gil Moreau", email: "gil.moreau@north.example", role: "STUDENT" } }));
  check(gil.result === "CREATED", "another new account");
  got(await client.DELETE("/admin/members/{id}", byId(gil.member.id)));
  const danaId = studentIds.at(3);
  check(danaId !== undefined, "four students");
  await Person.enter(here, here.people.dana);
  const newest = first(got(await client.GET("/admin/sessions", { params: { query: { userId: danaId } } })).data);
  got(await client.DELETE("/admin/sessions/{id}", byId(newest.id)));
  const domain = got(await client.POST("/admin/domains", { body: { domain: "north.example" } }));
  got(await client.GET("/admin/domains"));
  got(await client.DELETE("/admin/domains/{id}", byId(domain.id)));
  const job = got(await client.POST("/admin/gdpr/export", { body: { userId: fay.id } }));
  got(await client.GET("/admin/gdpr/jobs/{id}", byId(job.id)));
  await ownAccount(here, teacher);
  await platform(here, danaId);

  return {
    subject,
    class: seventh,
    async end() {
      got(await client.POST("/admin/gdpr/erase", { params: { query: { dryRun: "1" } }, body: { userId: fay.id } }));
      got(await teacher.client.DELETE("/classes/{id}/students/{studentId}", { params: { path: { id: seventh.id, studentId: fay.id } } }));
      got(await client.DELETE("/users/{id}", byId(fay.id)));
      const ofBen = { params: { path: { id: homeroom.id, studentId: benId } } };
      got(await client.DELETE("/homerooms/{id}/students/{studentId}", ofBen));
      const copy = got(
        await teacher.client.POST("/classes/{id}/clone", { ...byId(seventh.id), body: { name: "Geography 8b", academicYear: "2027/2028", withCourses: true, withTopics: true } }),
      );
      got(await client.DELETE("/classes/{id}", { params: { path: { id: copy.id }, query: { force: "1" } } }));
      got(await client.DELETE("/homerooms/{id}", byId(homeroom.id)));
      const spare = got(await client.POST("/subjects", { body: { name: "Astronomy" } }));
      got(await client.DELETE("/subjects/{id}", byId(spare.id)));
      const passwords = { currentPassword: here.password, newPassword: "Dreieck und Kreis" };
      got(await teacher.client.POST("/auth/change-password", { body: passwords }));
      got(await teacher.client.POST("/auth/revoke-sessions"));
    },
  };
}

/** The own account, as the routes of better-auth show it. */
async function ownAccount(here: World, person: Person): Promise<void> {
  const { client } = person;
  got(await client.GET("/auth/ok"));
  got(await client.GET("/auth/list-sessions"));
  got(await client.GET("/auth/list-accounts"));
  got(await client.POST("/auth/verify-password", { body: { password: here.password } }));
  got(await client.POST("/auth/update-user", { body: { name: "Ada Hartmann" } }));
  got(await client.PATCH("/users/me", { body: { locale: "de", timezone: "Europe/Berlin" } }));
  got(await client.GET("/auth/organization/get-organization"));
  const organization = got(await client.GET("/auth/organization/get-full-organization"));
  check(organization !== null && organization.members.length > 4, "the school with its members");
  got(await client.GET("/auth/organization/get-active-member"));
  got(await client.GET("/auth/organization/get-active-member-role"));
  got(await client.GET("/auth/organization/list-members", { params: { query: { limit: "2" } } }));
  got(await client.POST("/auth/organization/has-permission", { body: { permissions: { member: ["create"] } } }));
  got(await client.POST("/auth/request-password-reset", { body: { email: "ada@north.example" } }));
  const again = await Person.signIn(here, here.people.teacher);
  const seen = got(await again.client.GET("/auth/get-session"));
  check(seen !== null, "a second session");
  got(await client.POST("/auth/revoke-session", { body: { token: seen.session.token } }));
  got(await client.POST("/auth/revoke-other-sessions"));
  got(await client.POST("/users/me/email", { body: { newEmail: "ada.hartmann@north.example", password: here.password } }));
}

/** Requests of platform administrators. */
async function platform(here: World, danaId: string): Promise<void> {
  const root = await Person.signIn(here, here.people.platform);
  const { client } = root;
  const { tenant } = got(
    await client.POST("/tenants", { body: { name: "West School", slug: "west", ownerEmail: "wes@west.example", ownerName: "Wes Adler" } }),
  );
  got(await client.GET("/health"));
  got(await client.GET("/health/ready"));
  got(await client.GET("/tenants"));
  const domain = got(await client.POST("/tenants/{id}/domains", { ...byId(tenant.id), body: { domain: "west.example" } }));
  got(await client.GET("/tenants/{id}/domains", byId(tenant.id)));
  got(await client.DELETE("/tenants/{id}/domains/{domainId}", { params: { path: { id: tenant.id, domainId: domain.id } } }));
  const dana = await Person.signIn(here, here.people.dana);
  const seen = got(await dana.client.GET("/auth/get-session"));
  check(seen !== null, "a second session");
  const { sessions } = got(await client.POST("/auth/admin/list-user-sessions", { body: { userId: danaId } }));
  check(sessions.some(({ token }) => token === seen.session.token), "the platform sees the session");
  got(await client.POST("/auth/admin/revoke-user-session", { body: { sessionToken: seen.session.token } }));
  got(await client.GET("/tenants/{id}", byId(tenant.id)));
  got(await client.PATCH("/tenants/{id}", { ...byId(tenant.id), body: { storageQuota: 50_000_000_000 } }));
  got(await client.GET("/tenants/{id}/members", byId(tenant.id)));
  got(await client.POST("/tenants/{id}/suspend", byId(tenant.id)));
  got(await client.POST("/tenants/{id}/activate", byId(tenant.id)));
  got(await client.GET("/admin/system"));
  const { users } = got(await client.GET("/auth/admin/list-users", { params: { query: { searchValue: "wes@", limit: "5" } } }));
  const wes = first(users);
  const ofWes = { userId: wes.id };
  got(await client.GET("/auth/admin/get-user", { params: { query: { id: wes.id } } }));
  got(await client.POST("/auth/admin/update-user", { body: { ...ofWes, data: { name: "Wes Adler-Brown" } } }));
  got(await client.POST("/auth/admin/set-user-password", { body: { ...ofWes, newPassword: "Dreieck und Kreis" } }));
  got(await client.POST("/auth/admin/ban-user", { body: { ...ofWes, banReason: "Left the school", banExpiresIn: 3600 } }));
  got(await client.POST("/auth/admin/unban-user", { body: ofWes }));
  got(await client.POST("/auth/admin/impersonate-user", { body: ofWes }));
  got(await client.POST("/auth/admin/stop-impersonating"));
  got(await client.POST("/auth/admin/revoke-user-sessions", { body: ofWes }));
  got(await client.POST("/auth/admin/has-permission", { body: { permissions: { user: ["ban"] } } }));
  const { user } = got(await client.POST("/auth/admin/create-user", { body: { email: "uma@platform.example", name: "Uma Frei", role: "STUDENT" } }));
  got(await client.POST("/auth/admin/set-role", { body: { userId: user.id, role: "TEACHER" } }));
  got(await client.POST("/auth/admin/remove-user", { body: { userId: user.id } }));
  got(await client.DELETE("/tenants/{id}", { ...byId(tenant.id), body: { confirm: "west" } }));
}
