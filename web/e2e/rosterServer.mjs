// A scripted roster server for browser tests: OneRoster REST below /ims/oneroster/v1p1 and Schulconnex below /v1, with a
// school that a test can change while the server runs. The service reaches it with SIGN_ON_NETWORKS=127.0.0.0/8.
import { once } from "node:events";
import { createServer } from "node:http";

export const CLIENT_ID = "groupwork";
export const CLIENT_SECRET = "secret-of-the-roster";

const ROLES = { student: "Lern", teacher: "Lehr" };

/** A school of one course, one homeroom, a teacher and `students` students. */
export function school(students = 20) {
  const people = [{ id: "t1", role: "teacher", first: "Tara", last: "Roster" }];
  for (let number = 1; number <= students; number++) {
    people.push({ id: `s${number}`, role: "student", first: `Sam${number}`, last: "Roster" });
  }
  const classes = [
    { id: "c1", title: "Roster course", isHomeroom: false },
    { id: "h1", title: "9r", isHomeroom: true },
  ];
  return { people, classes };
}

export class RosterServer {
  #server;
  /** The people and classes; everyone is a member of every class, but teachers of no homeroom. */
  school;
  /** The status of every response but those with a token; 200 if the server works. */
  status = 200;
  /** The requests so far: method and path. */
  requests = [];

  static async start(data = school()) {
    const server = new RosterServer();
    server.school = data;
    server.#server = createServer((request, response) => server.#respond(request, response));
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    server.base = `http://127.0.0.1:${server.#server.address().port}`;
    server.oneRosterUrl = `${server.base}/ims/oneroster/v1p1`;
    server.schulconnexUrl = `${server.base}/v1`;
    server.tokenUrl = `${server.base}/token`;
    return server;
  }

  async close() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #respond(request, response) {
    const url = new URL(request.url, this.base);
    const list = url.pathname.split("/").at(-1);
    this.requests.push(`${request.method} ${url.pathname}`);
    const send = (status, body, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(status === 304 ? undefined : JSON.stringify(body));
    };
    if (list === "token") {
      const credentials = Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString("base64");
      let form = "";
      for await (const chunk of request) form += chunk;
      const isInForm = new URLSearchParams(form).get("client_secret") === CLIENT_SECRET;
      const isAllowed = isInForm || request.headers.authorization === `Basic ${credentials}`;
      return isAllowed
        ? send(200, { access_token: "token", expires_in: 3600 })
        : send(401, { error: "invalid_client" });
    }
    if (request.headers.authorization !== "Bearer token") return send(401, {});
    if (this.status !== 200) return send(this.status, {});
    if (list === "personen-info") {
      const etag = `"${JSON.stringify(this.school).length}-${this.school.people.length}"`;
      const isUnchanged = request.headers["if-none-match"] === etag;
      return send(isUnchanged ? 304 : 200, this.#persons(), { etag });
    }
    const rows = this.#lists()[list];
    if (!rows) return send(404, {});
    const offset = Number(url.searchParams.get("offset") ?? 0);
    const limit = Number(url.searchParams.get("limit") ?? 100);
    send(200, { [list]: rows.slice(offset, offset + limit) }, { "x-total-count": String(rows.length) });
  }

  #members() {
    const { people, classes } = this.school;
    return classes.flatMap((of) =>
      people.filter(({ role }) => !of.isHomeroom || role === "student").map((person) => ({ of, person })),
    );
  }

  #lists() {
    const status = "active";
    const org = { sourcedId: "school", type: "school" };
    return {
      orgs: [{ sourcedId: "school", status, type: "school", name: "Roster school" }],
      academicSessions: [],
      users: this.school.people.map(({ id, role, first, last }) => ({
        sourcedId: id,
        status,
        role,
        givenName: first,
        familyName: last,
        orgs: [org],
      })),
      classes: this.school.classes.map(({ id, title, isHomeroom }) => ({
        sourcedId: id,
        status,
        title,
        classType: isHomeroom ? "homeroom" : "scheduled",
        school: org,
      })),
      enrollments: this.#members().map(({ of, person }) => ({
        sourcedId: `${of.id}-${person.id}`,
        status,
        role: person.role,
        class: { sourcedId: of.id },
        user: { sourcedId: person.id },
      })),
    };
  }

  #persons() {
    const members = this.#members();
    return this.school.people.map(({ id, role, first, last }) => {
      const groups = members
        .filter(({ person }) => person.id === id)
        .map(({ of }) => ({
          gruppe: { id: of.id, bezeichnung: of.title, typ: of.isHomeroom ? "Klasse" : "Kurs" },
          gruppenzugehoerigkeit: { rollen: [ROLES[role]] },
        }));
      const context = { id: `k-${id}`, rolle: ROLES[role], organisation: { id: "school" }, gruppen: groups };
      return { pid: id, person: { name: { vorname: first, familienname: last } }, personenkontexte: [context] };
    });
  }
}
