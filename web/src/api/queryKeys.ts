// The keys of everything in the query cache. No other file may write one (scripts/query-keys.mjs): two queries with
// different data never share a key, and what one invalidation reaches is visible here.
//
// A key is its family, its name and what was asked for. With fewer arguments it is the beginning of the keys with more.
// A family is the first part of a key. `invalidate` and the live channel name families. The families in `Uniform` hold one
// type of data under all of their keys, and only those can be changed or searched as a whole.
import type { DataTag, QueryClient, QueryKey } from "@tanstack/react-query";

import type { Schemas } from "./client";

/** A key whose data is known to be `Data` wherever it is read or written by hand. */
export type Key<Data> = DataTag<QueryKey, Data>;

/** Every key by its family and its name, and what has to be said to get it. */
interface QueryKeys {
  activity: {
    log: (query: object) => QueryKey;
    names: () => QueryKey;
    board: (topicId: string, news: number | string) => QueryKey;
    finisher: (topicId: string) => QueryKey;
  };
  admin: {
    stats: () => QueryKey;
    storage: () => QueryKey;
    settings: () => QueryKey;
    sessions: (userId?: string) => QueryKey;
    invitations: (organizationId?: string) => QueryKey;
    domains: (organizationId?: string) => QueryKey;
    exports: (id: string) => QueryKey;
  };
  assignments: {
    mine: () => QueryKey;
    one: (id: string) => QueryKey;
    inside: (id: string) => QueryKey;
    work: (id: string) => QueryKey;
    ofCourse: (courseId: string) => QueryKey;
    loose: () => QueryKey;
    candidates: (groupId: string) => QueryKey;
    preview: (id: string, edits: object) => QueryKey;
    deletion: (id: string) => QueryKey;
    finishPreview: (id: string) => QueryKey;
    deadlinePreview: (id: string, deadline: string) => QueryKey;
  };
  board: {
    one: (topicId: string) => Key<Schemas["Board"]>;
  };
  chat: {
    one: (workRoomId: string) => QueryKey;
  };
  classes: {
    list: () => QueryKey;
    one: (id: string) => QueryKey;
    roster: (id: string) => QueryKey;
    names: (id: string) => QueryKey;
    place: (id: string) => QueryKey;
    active: () => QueryKey;
    mine: () => QueryKey;
    open: () => QueryKey;
  };
  courses: {
    list: () => QueryKey;
    one: (id?: string) => QueryKey;
    named: (search: string) => QueryKey;
    names: () => QueryKey;
    managed: () => QueryKey;
  };
  document: {
    versions: (id: string) => QueryKey;
    late: (classId?: string) => QueryKey;
    editor: (id: string, status?: string, canEdit?: boolean, isView?: boolean) => QueryKey;
  };
  editor: {
    address: () => QueryKey;
    script: (server: string) => QueryKey;
  };
  feedback: {
    comments: (groupAssignmentId: string) => QueryKey;
    attempts: (groupAssignmentId: string) => QueryKey;
    words: (groupAssignmentId: string) => QueryKey;
  };
  groups: {
    mine: () => Key<Schemas["Group"][]>;
    one: (id: string) => QueryKey;
    form: (id: string) => QueryKey;
    ofClass: (classId: string) => QueryKey;
    ofCourse: (courseId: string) => QueryKey;
    ofPerson: (userId: string) => QueryKey;
    loose: () => QueryKey;
    waiting: () => QueryKey;
    contributions: (id: string) => QueryKey;
  };
  health: {
    now: () => QueryKey;
  };
  homerooms: {
    list: () => QueryKey;
    students: (id: string) => QueryKey;
  };
  import: {
    wizard: () => QueryKey;
    progress: () => Key<{ rows: number; done: number; isFinished: boolean }>;
  };
  invitations: {
    own: () => QueryKey;
    preview: (token: string) => QueryKey;
  };
  me: {
    self: () => Key<Schemas["Me"] | null>;
    acting: () => QueryKey;
    activeSchool: () => QueryKey;
    devices: () => QueryKey;
  };
  messages: {
    box: (box?: string, classId?: string) => QueryKey;
    one: (id: string) => QueryKey;
    unread: () => QueryKey;
  };
  removal: {
    ofClass: (id: string) => QueryKey;
    ofCourse: (id: string) => QueryKey;
  };
  room: {
    one: (groupId: string) => Key<Schemas["WorkRoom"]>;
  };
  schools: {
    of: (userId: string) => QueryKey;
  };
  subjects: {
    list: () => QueryKey;
    active: () => QueryKey;
  };
  submissions: {
    overview: (query: object) => QueryKey;
    attempts: (groupAssignmentId: string) => QueryKey;
    grades: (submissionId: string, count: number) => QueryKey;
  };
  tenants: {
    list: (search: string) => QueryKey;
    members: (id: string) => QueryKey;
    system: () => QueryKey;
  };
  users: {
    list: (filters?: object) => QueryKey;
    one: (id: string) => QueryKey;
    named: (role: string, search: string, limit: number) => QueryKey;
    found: (search: string) => QueryKey;
    unseen: (homeroomId: string) => QueryKey;
    everybody: () => QueryKey;
    staff: () => QueryKey;
    addressees: (search: string) => QueryKey;
  };
}

/** Makes `queryKeys.board.one(id)` the key `["board", "one", id]`: no two names can have the same key. */
export const queryKeys = new Proxy({} as QueryKeys, {
  get: (_, family) => new Proxy({}, { get: (__, name) => (...parts: unknown[]) => [family, name, ...parts] }),
});

export type Family = keyof QueryKeys;

/** The families with one type of data, and that type. */
interface UniformFamilies {
  board: Schemas["Board"];
  room: Schemas["WorkRoom"];
}

/** The beginning of all keys of some families, for whoever has to name them one by one. */
export const familyKeys = (...names: Family[]): QueryKey[] => names.map((name) => [name]);

/** Marks every query of these families as stale, and asks again for those that are shown. */
export const invalidate = (cache: QueryClient, ...names: Family[]): Promise<unknown> => Promise.all(familyKeys(...names).map((queryKey) => cache.invalidateQueries({ queryKey })));

/** Marks them as stale without asking: who opens such a page later gets the new state. */
export const markStale = (cache: QueryClient, ...names: Family[]): void => {
  for (const queryKey of familyKeys(...names)) void cache.invalidateQueries({ queryKey, refetchType: "none" });
};

/** What a family holds now. */
export const getFamily = <F extends keyof UniformFamilies>(cache: QueryClient, family: F): UniformFamilies[F][] =>
  cache.getQueriesData<UniformFamilies[F]>({ queryKey: [family] }).flatMap(([, found]) => (found === undefined ? [] : [found]));

/** Changes everything that a family holds. */
export const updateFamily = <F extends keyof UniformFamilies>(cache: QueryClient, family: F, change: (found: UniformFamilies[F]) => UniformFamilies[F]): void =>
  void cache.setQueriesData<UniformFamilies[F]>({ queryKey: [family] }, (found) => (found === undefined ? undefined : change(found)));
