// The keys of everything in the query cache. No other file may write one (scripts/query-keys.mjs): two queries with
// different data never share a key, and what one invalidation reaches is visible here.
//
// A family is the first part of a key. `invalidate` and the live channel name families. The families in `Uniform` hold one
// type of data under all of their keys, and only those can be changed or searched as a whole.
import type { DataTag, QueryClient, QueryKey } from "@tanstack/react-query";

import type { Schemas } from "../api/client";

/** A key whose data is known to be `Data` wherever it is read or written by hand. */
export type Key<Data> = DataTag<QueryKey, Data>;

const key = <Data>(...parts: QueryKey): Key<Data> => parts as unknown as Key<Data>;

export const queryKeys = {
  activity: {
    log: (query: object) => ["activity", "log", query],
    names: () => ["activity", "names"],
    board: (topicId: string, news: number | string) => ["activity", "board", topicId, news],
    finisher: (topicId: string) => ["activity", "finisher", topicId],
  },
  admin: {
    stats: () => ["admin", "stats"],
    storage: () => ["admin", "storage"],
    settings: () => ["admin", "settings"],
    allSessions: () => ["admin", "sessions"],
    sessions: (userId: string) => ["admin", "sessions", userId],
    invitations: (organizationId?: string) => ["admin", "invitations", ...(organizationId === undefined ? [] : [organizationId])],
    exports: (id: string) => ["admin", "exports", id],
    allDomains: () => ["admin", "domains"],
    domains: (organizationId?: string) => ["admin", "domains", organizationId ?? ""],
  },
  assignments: {
    mine: () => ["assignments", "mine"],
    one: (id: string) => ["assignments", "one", id],
    inside: (id: string) => ["assignments", "inside", id],
    work: (id: string) => ["assignments", "work", id],
    ofCourse: (courseId: string) => ["assignments", "course", courseId],
    loose: () => ["assignments", "loose"],
    candidates: (groupId: string) => ["assignments", "candidates", groupId],
    preview: (id: string, edits: object) => ["assignments", "preview", id, edits],
    deletion: (id: string) => ["assignments", "deletion", id],
    deadlinePreview: (id: string, deadline: string) => ["assignments", "deadline-preview", id, deadline],
  },
  board: {
    one: (topicId: string) => key<Schemas["Board"]>("board", topicId),
  },
  chat: {
    one: (workRoomId: string) => ["chat", workRoomId],
  },
  classes: {
    list: () => ["classes", "all"],
    one: (id: string) => ["classes", "one", id],
    roster: (id: string) => ["classes", "roster", id],
    names: (id: string) => ["classes", "names", id],
    place: (id: string) => ["classes", "place", id],
    active: () => ["classes", "active"],
    mine: () => ["classes", "mine"],
    open: () => ["classes", "open"],
  },
  courses: {
    list: () => ["courses", "all"],
    details: () => ["courses", "one"],
    one: (id: string) => ["courses", "one", id],
    named: (search: string) => ["courses", "named", search],
    names: () => ["courses", "names"],
    managed: () => ["courses", "managed"],
  },
  document: {
    all: (id: string) => ["document", id],
    versions: (id: string) => ["document", id, "versions"],
    editor: (id: string, status: string, canEdit: boolean | undefined, isView: boolean) => ["document", id, "editor", status, canEdit, isView],
  },
  editor: {
    address: () => ["editor", "address"],
    script: (server: string) => ["editor", "script", server],
  },
  feedback: {
    comments: (groupAssignmentId: string) => ["feedback", "comments", groupAssignmentId],
    attempts: (groupAssignmentId: string) => ["feedback", "attempts", groupAssignmentId],
    words: (groupAssignmentId: string) => ["feedback", "words", groupAssignmentId],
  },
  groups: {
    mine: () => key<Schemas["Group"][]>("groups", "mine"),
    one: (id: string) => ["groups", "one", id],
    ofClass: (classId: string) => ["groups", "class", classId],
    ofCourse: (courseId: string) => ["groups", "course", courseId],
    ofPerson: (userId: string) => ["groups", "of", userId],
    loose: () => ["groups", "loose"],
    waiting: () => ["groups", "waiting"],
    contributions: (id: string) => ["groups", "contributions", id],
  },
  health: {
    now: () => ["health"],
  },
  homerooms: {
    list: () => ["homerooms", "all"],
    students: (id: string) => ["homerooms", "students", id],
  },
  import: {
    wizard: () => ["import", "wizard"],
    progress: () => key<{ rows: number; done: number; isFinished: boolean }>("import", "progress"),
  },
  invitations: {
    own: () => ["invitations", "own"],
    preview: (token: string) => ["invitations", "preview", token],
  },
  me: {
    // Everything of this family is about the person who is signed in; the bare key is the person.
    self: () => key<Schemas["Me"] | null>("me"),
    acting: () => ["me", "acting"],
    activeSchool: () => ["me", "active-school"],
    devices: () => ["me", "devices"],
  },
  messages: {
    boxes: () => ["messages", "box"],
    box: (box: string, classId: string) => ["messages", "box", box, classId],
    one: (id: string) => ["messages", "one", id],
    unread: () => ["messages", "unread"],
  },
  removal: {
    ofClass: (id: string) => ["removal", "class", id],
    ofCourse: (id: string) => ["removal", "course", id],
  },
  room: {
    one: (groupId: string) => key<Schemas["WorkRoom"]>("room", groupId),
  },
  schools: {
    of: (userId: string) => ["schools", userId],
  },
  subjects: {
    list: () => ["subjects", "all"],
    active: () => ["subjects", "active"],
  },
  submissions: {
    overview: (query: object) => ["submissions", "overview", query],
    attempts: (groupAssignmentId: string) => ["submissions", "attempts", groupAssignmentId],
  },
  tenants: {
    list: (search: string) => ["tenants", "list", search],
    members: (id: string) => ["tenants", "members", id],
    system: () => ["tenants", "system"],
  },
  users: {
    lists: () => ["users", "list"],
    list: (filters: object) => ["users", "list", filters],
    one: (id: string) => ["users", "one", id],
    named: (role: string, search: string, limit: number) => ["users", "named", role, search, limit],
    found: (search: string) => ["users", "found", search],
    unseen: (homeroomId: string) => ["users", "unseen", homeroomId],
    everybody: () => ["users", "everybody"],
    staff: () => ["users", "staff"],
    addressees: (search: string) => ["users", "addressees", search],
  },
} as const;

export type Family = keyof typeof queryKeys;

/** The families with one type of data, and that type. */
interface Uniform {
  board: Schemas["Board"];
  room: Schemas["WorkRoom"];
}

/** The beginning of all keys of some families, for whoever has to name them one by one. */
export const families = (...names: Family[]): QueryKey[] => names.map((name) => [name]);

/** Marks every query of these families as stale, and asks again for those that are shown. */
export const invalidate = (cache: QueryClient, ...names: Family[]): Promise<unknown> => Promise.all(families(...names).map((queryKey) => cache.invalidateQueries({ queryKey })));

/** Marks them as stale without asking: who opens such a page later gets the new state. */
export const markStale = (cache: QueryClient, ...names: Family[]): void => {
  for (const queryKey of families(...names)) void cache.invalidateQueries({ queryKey, refetchType: "none" });
};

/** What a family holds now. */
export const allOf = <F extends keyof Uniform>(cache: QueryClient, family: F): Uniform[F][] =>
  cache.getQueriesData<Uniform[F]>({ queryKey: [family] }).flatMap(([, found]) => (found === undefined ? [] : [found]));

/** Changes everything that a family holds. */
export const updateAll = <F extends keyof Uniform>(cache: QueryClient, family: F, change: (found: Uniform[F]) => Uniform[F]): void =>
  void cache.setQueriesData<Uniform[F]>({ queryKey: [family] }, (found) => (found === undefined ? undefined : change(found)));
