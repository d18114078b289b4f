// Administration of the school and the platform: users, homerooms, classes, settings, sign-ins.
import { check, first, form, dataOf, User, type Schemas, type World } from "./client.js";

const byId = (id: string) => ({ params: { path: { id } } });

export interface School {
  readonly subject: Schemas["Subject"];
  readonly class: Schemas["Class"];
  /** Deletes the objects that the lesson does not need any more. */
  cleanUp(): Promise<void>;
}

interface ClassStaff {
  readonly tomId: string;
  readonly studentIds: string[];
}

export async function administer(world: World, admin: User, teacher: User, staff: ClassStaff): Promise<School> {
  const { tomId, studentIds } = staff;
  const { client } = admin;
  const subject = dataOf(await client.POST("/subjects", { body: { name: "Geography", code: "GEO", color: "#1f7a4d" } }));
  dataOf(await client.PATCH("/subjects/{id}", { ...byId(subject.id), body: { description: "Rivers, maps and weather." } }));
  dataOf(await client.GET("/subjects/{id}", byId(subject.id)));
  dataOf(await teacher.client.GET("/subjects"));

  const ada = await teacher.me();
  const homeroom = dataOf(
    await client.POST("/homerooms", { body: { name: "7b", gradeLevel: "7", academicYear: "2026/2027", teacherId: ada.id } }),
  );
  dataOf(await client.PATCH("/homerooms/{id}", { ...byId(homeroom.id), body: { gradeLevel: "Grade 7" } }));
  dataOf(await client.POST("/homerooms/{id}/students", { ...byId(homeroom.id), body: { studentIds } }));
  dataOf(await client.GET("/homerooms/{id}", byId(homeroom.id)));
  dataOf(await client.GET("/homerooms/{id}/students", byId(homeroom.id)));
  dataOf(await teacher.client.GET("/homerooms"));

  const newClass = { name: "Geography 7b", academicYear: "2026/2027", semester: "1", subjectIds: [subject.id], homeroomId: homeroom.id };
  const created = dataOf(await teacher.client.POST("/classes", { body: newClass }));
  check(created.teacherId === ada.id && created.status === "ACTIVE", "Ada owns the class");
  const seventh = dataOf(await teacher.client.PATCH("/classes/{id}", { ...byId(created.id), body: { startDate: "2026-08-20" } }));
  dataOf(await teacher.client.POST("/classes/{id}/students", { ...byId(seventh.id), body: { studentIds } }));
  const [benId, , cemId] = studentIds;
  check(benId !== undefined && cemId !== undefined, "four students");
  const ofCem = { params: { path: { id: seventh.id, studentId: cemId } } };
  dataOf(await teacher.client.PATCH("/classes/{id}/students/{studentId}", { ...ofCem, body: { completedAt: null } }));
  dataOf(await teacher.client.POST("/classes/{id}/teachers", { ...byId(seventh.id), body: { userId: tomId } }));
  const ofTom = { params: { path: { id: seventh.id, userId: tomId } } };
  dataOf(await teacher.client.DELETE("/classes/{id}/teachers/{userId}", ofTom));
  dataOf(await teacher.client.GET("/classes"));
  dataOf(await teacher.client.GET("/classes/{id}", byId(seventh.id)));
  dataOf(await teacher.client.GET("/classes/{id}/courses", byId(seventh.id)));

  const fay = dataOf(
    await client.POST("/users", { body: { name: "Fay Lang", email: "fay@north.example", role: "STUDENT", classIds: [seventh.id] } }),
  );
  check(fay.result === "CREATED" && fay.temporaryPassword !== undefined, "a new account with a temporary password");
  dataOf(await client.PATCH("/users/{id}", { ...byId(fay.id), body: { firstName: "Fay", lastName: "Lang", externalId: "N-105" } }));
  const account = dataOf(await client.GET("/users/{id}", byId(fay.id)));
  check(account.view === "FULL" && account.externalId === "N-105", "the administrator reads the account");
  const seen = first(dataOf(await teacher.client.GET("/users", { params: { query: { search: "fay" } } })).data);
  check(seen.view === "OUTLINE" && seen.id === fay.id, "a teacher reads an outline");
  dataOf(await client.POST("/users/{id}/reset-password", byId(fay.id)));
  dataOf(await client.GET("/users/{id}/groups", byId(fay.id)));
  const table = "email,firstName,lastName,role\ngil@north.example,Gil,Moreau,student\n";
  dataOf(
    await client.POST("/users/import", {
      params: { query: { dryRun: "1" } },
      body: { file: "people.csv" },
      bodySerializer: form("people.csv", table),
    }),
  );
  const invited = dataOf(await client.POST("/users", { body: { name: "Zoe Martin", email: "zoe@south.example", role: "TEACHER" } }));
  check(invited.result === "INVITED", "an address with an account elsewhere is invited");
  dataOf(await client.GET("/admin/invitations"));
  dataOf(await client.GET("/auth/organization/list-invitations"));
  dataOf(await client.POST("/auth/organization/cancel-invitation", { body: { invitationId: invited.invitation.id } }));

  dataOf(await client.GET("/admin/settings"));
  dataOf(await client.PATCH("/admin/settings", { body: { metadata: { timezone: "Europe/Berlin", gradeScale: "1-6" } } }));
  dataOf(await client.GET("/admin/stats"));
  dataOf(await client.GET("/admin/storage"));
  dataOf(await client.GET("/admin/sessions"));
  const members = dataOf(await client.GET("/admin/members"));
  const gone = members.data.find(({ userId }) => userId === fay.id);
  check(gone !== undefined, "Fay is a member");
  dataOf(await client.PATCH("/admin/members/{id}", { ...byId(gone.id), body: { role: "student" } }));
  const gil = dataOf(await client.POST("/users", { body: { name: "Gil Moreau", email: "gil.moreau@north.example", role: "STUDENT" } }));
  check(gil.result === "CREATED", "another new account");
  dataOf(await client.DELETE("/admin/members/{id}", byId(gil.member.id)));
  const danaId = studentIds.at(3);
  check(danaId !== undefined, "four students");
  await User.signInToOrganization(world, world.people.dana);
  const newest = first(dataOf(await client.GET("/admin/sessions", { params: { query: { userId: danaId } } })).data);
  dataOf(await client.DELETE("/admin/sessions/{id}", byId(newest.id)));
  const domain = dataOf(await client.POST("/admin/domains", { body: { domain: "north.example" } }));
  dataOf(await client.GET("/admin/domains"));
  dataOf(await client.DELETE("/admin/domains/{id}", byId(domain.id)));
  const job = dataOf(await client.POST("/admin/gdpr/export", { body: { userId: fay.id } }));
  dataOf(await client.GET("/admin/gdpr/jobs/{id}", byId(job.id)));
  await useOwnAccount(world, teacher);
  await administerPlatform(world, danaId);

  return {
    subject,
    class: seventh,
    async cleanUp() {
      dataOf(await client.POST("/admin/gdpr/erase", { params: { query: { dryRun: "1" } }, body: { userId: fay.id } }));
      dataOf(await teacher.client.DELETE("/classes/{id}/students/{studentId}", { params: { path: { id: seventh.id, studentId: fay.id } } }));
      dataOf(await client.DELETE("/users/{id}", byId(fay.id)));
      const ofBen = { params: { path: { id: homeroom.id, studentId: benId } } };
      dataOf(await client.DELETE("/homerooms/{id}/students/{studentId}", ofBen));
      const copy = dataOf(
        await teacher.client.POST("/classes/{id}/clone", { ...byId(seventh.id), body: { name: "Geography 8b", academicYear: "2027/2028", withCourses: true, withTopics: true } }),
      );
      dataOf(await client.DELETE("/classes/{id}", { params: { path: { id: copy.id }, query: { force: "1" } } }));
      dataOf(await client.DELETE("/homerooms/{id}", byId(homeroom.id)));
      const spare = dataOf(await client.POST("/subjects", { body: { name: "Astronomy" } }));
      dataOf(await client.DELETE("/subjects/{id}", byId(spare.id)));
      const passwords = { currentPassword: world.password, newPassword: "Dreieck und Kreis" };
      dataOf(await teacher.client.POST("/auth/change-password", { body: passwords }));
      dataOf(await teacher.client.POST("/auth/revoke-sessions"));
    },
  };
}

/** Calls the routes of better-auth for the own account. */
async function useOwnAccount(world: World, user: User): Promise<void> {
  const { client } = user;
  dataOf(await client.GET("/auth/ok"));
  dataOf(await client.GET("/auth/list-sessions"));
  dataOf(await client.GET("/auth/list-accounts"));
  dataOf(await client.POST("/auth/verify-password", { body: { password: world.password } }));
  dataOf(await client.POST("/auth/update-user", { body: { name: "Ada Hartmann" } }));
  dataOf(await client.PATCH("/users/me", { body: { locale: "de", timezone: "Europe/Berlin" } }));
  dataOf(await client.GET("/auth/organization/get-organization"));
  const organization = dataOf(await client.GET("/auth/organization/get-full-organization"));
  check(organization !== null && organization.members.length > 4, "the school with its members");
  dataOf(await client.GET("/auth/organization/get-active-member"));
  dataOf(await client.GET("/auth/organization/get-active-member-role"));
  dataOf(await client.GET("/auth/organization/list-members", { params: { query: { limit: "2" } } }));
  dataOf(await client.POST("/auth/organization/has-permission", { body: { permissions: { member: ["create"] } } }));
  dataOf(await client.POST("/auth/request-password-reset", { body: { email: "ada@north.example" } }));
  const again = await User.signIn(world, world.people.teacher);
  const seen = dataOf(await again.client.GET("/auth/get-session"));
  check(seen !== null, "a second session");
  dataOf(await client.POST("/auth/revoke-session", { body: { token: seen.session.token } }));
  dataOf(await client.POST("/auth/revoke-other-sessions"));
  dataOf(await client.POST("/users/me/email", { body: { newEmail: "ada.hartmann@north.example", password: world.password } }));
}

/** Calls the routes of the platform as a SUPER_ADMIN. */
async function administerPlatform(world: World, danaId: string): Promise<void> {
  const root = await User.signIn(world, world.people.platform);
  const { client } = root;
  const { tenant } = dataOf(
    await client.POST("/tenants", { body: { name: "West School", slug: "west", ownerEmail: "wes@west.example", ownerName: "Wes Adler" } }),
  );
  dataOf(await client.GET("/health"));
  dataOf(await client.GET("/health/ready"));
  dataOf(await client.GET("/tenants"));
  const domain = dataOf(await client.POST("/tenants/{id}/domains", { ...byId(tenant.id), body: { domain: "west.example" } }));
  dataOf(await client.GET("/tenants/{id}/domains", byId(tenant.id)));
  dataOf(await client.DELETE("/tenants/{id}/domains/{domainId}", { params: { path: { id: tenant.id, domainId: domain.id } } }));
  const dana = await User.signIn(world, world.people.dana);
  const seen = dataOf(await dana.client.GET("/auth/get-session"));
  check(seen !== null, "a second session");
  const { sessions } = dataOf(await client.POST("/auth/admin/list-user-sessions", { body: { userId: danaId } }));
  check(sessions.some(({ token }) => token === seen.session.token), "the platform sees the session");
  dataOf(await client.POST("/auth/admin/revoke-user-session", { body: { sessionToken: seen.session.token } }));
  dataOf(await client.GET("/tenants/{id}", byId(tenant.id)));
  dataOf(await client.PATCH("/tenants/{id}", { ...byId(tenant.id), body: { storageQuota: 50_000_000_000 } }));
  dataOf(await client.GET("/tenants/{id}/members", byId(tenant.id)));
  dataOf(await client.POST("/tenants/{id}/suspend", byId(tenant.id)));
  dataOf(await client.POST("/tenants/{id}/activate", byId(tenant.id)));
  dataOf(await client.GET("/admin/system"));
  const { users } = dataOf(await client.GET("/auth/admin/list-users", { params: { query: { searchValue: "wes@", limit: "5" } } }));
  const wes = first(users);
  const ofWes = { userId: wes.id };
  dataOf(await client.GET("/auth/admin/get-user", { params: { query: { id: wes.id } } }));
  dataOf(await client.POST("/auth/admin/update-user", { body: { ...ofWes, data: { name: "Wes Adler-Brown" } } }));
  dataOf(await client.POST("/auth/admin/set-user-password", { body: { ...ofWes, newPassword: "Dreieck und Kreis" } }));
  dataOf(await client.POST("/auth/admin/ban-user", { body: { ...ofWes, banReason: "Left the school", banExpiresIn: 3600 } }));
  dataOf(await client.POST("/auth/admin/unban-user", { body: ofWes }));
  dataOf(await client.POST("/auth/admin/impersonate-user", { body: ofWes }));
  dataOf(await client.POST("/auth/admin/stop-impersonating"));
  dataOf(await client.POST("/auth/admin/revoke-user-sessions", { body: ofWes }));
  dataOf(await client.POST("/auth/admin/has-permission", { body: { permissions: { user: ["ban"] } } }));
  const { user } = dataOf(await client.POST("/auth/admin/create-user", { body: { email: "uma@platform.example", name: "Uma Frei", role: "STUDENT" } }));
  dataOf(await client.POST("/auth/admin/set-role", { body: { userId: user.id, role: "TEACHER" } }));
  dataOf(await client.POST("/auth/admin/remove-user", { body: { userId: user.id } }));
  dataOf(await client.DELETE("/tenants/{id}", { ...byId(tenant.id), body: { confirm: "west" } }));
}
