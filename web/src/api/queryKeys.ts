// All keys of the query cache. No other file may write one (scripts/query-keys.mjs): queries with different data never share a
// key, and the effect of each invalidation is visible here.
//
// A key consists of its family, its name and its arguments. With fewer arguments it is a prefix of the keys with more. The
// family is the first element. `invalidate` and the realtime client name families. All keys of the families in
// `UniformFamilies` hold one type of data, and only those families can be changed or searched as a whole. A key whose data is
// read or written elsewhere than in its query is a `Key` of that data.
import type { DataTag, InfiniteData, QueryClient, QueryKey } from "@tanstack/react-query";

import type { Wizard } from "../features/import/wizard";
import type { Schemas } from "./client";

/** A key that is tagged with the type of its data, for typed reads and writes of the cache. */
export type Key<Data> = DataTag<QueryKey, Data>;

/** Every key by family and name, with its arguments. */
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
    tokens: () => QueryKey;
    signOn: () => QueryKey;
    identities: (providerId: string) => QueryKey;
    rosters: () => QueryKey;
    rosterRuns: (sourceId: string) => QueryKey;
    rosterEntries: (sourceId: string, runId: string, state: string, effect: string) => QueryKey;
    exports: (id: string) => QueryKey;
  };
  assignments: {
    mine: () => QueryKey;
    one: (id: string) => QueryKey;
    inside: (id: string) => QueryKey;
    work: (id: string) => QueryKey;
    rubric: (id: string) => QueryKey;
    ofCourse: (courseId: string) => QueryKey;
    loose: () => QueryKey;
    candidates: (groupId: string) => QueryKey;
    preview: (id: string, edits: object) => QueryKey;
    deletion: (id: string) => QueryKey;
    finishPreview: (id: string) => QueryKey;
    deadlinePreview: (id: string, deadline: string) => QueryKey;
  };
  board: { one: (topicId: string) => Key<Schemas["Board"]> };
  chat: { one: (workRoomId: string) => Key<InfiniteData<{ data: Schemas["WorkRoomMessage"][] }>> };
  classes: {
    list: () => QueryKey;
    one: (id: string) => QueryKey;
    roster: (id: string) => QueryKey;
    names: (id: string) => QueryKey;
    place: (id: string) => QueryKey;
    active: () => QueryKey;
    mine: () => QueryKey;
    open: () => QueryKey;
    following: (id: string, homeroomId: string) => QueryKey;
  };
  courses: {
    list: () => QueryKey;
    one: (id?: string) => QueryKey;
    names: () => QueryKey;
    managed: () => QueryKey;
    copies: (source: object, choice: object) => QueryKey;
  };
  deletions: { list: () => QueryKey };
  document: {
    versions: (id: string) => QueryKey;
    late: (classId?: string) => QueryKey;
    authorship: (id: string, copyId?: string) => QueryKey;
    editor: (id: string, status?: string, canEdit?: boolean, isView?: boolean) => QueryKey;
    comments: (id: string) => Key<Schemas["CommentList"]>;
  };
  editor: { address: () => QueryKey; script: (server: string) => QueryKey };
  feedback: {
    comments: (groupAssignmentId: string) => QueryKey;
    attempts: (groupAssignmentId: string) => QueryKey;
    words: (groupAssignmentId: string) => QueryKey;
  };
  groups: {
    mine: () => Key<Schemas["GroupListItem"][]>;
    one: (id: string) => Key<Schemas["Group"] | null>;
    form: (id: string) => QueryKey;
    ofClass: (classId: string) => QueryKey;
    ofCourse: (courseId: string) => QueryKey;
    ofPerson: (userId: string) => QueryKey;
    loose: () => QueryKey;
    waiting: () => QueryKey;
    contributions: (id: string) => QueryKey;
  };
  health: { now: () => QueryKey; sendsEmail: () => Key<boolean> };
  homerooms: { list: () => QueryKey; students: (id: string) => QueryKey; newClasses: (year: string) => QueryKey };
  import: { wizard: () => Key<Wizard>; progress: () => Key<{ rows: number; done: number; isFinished: boolean }> };
  invitations: { own: () => QueryKey; preview: (token: string) => QueryKey };
  me: {
    self: () => Key<Schemas["Me"] | null>;
    acting: () => QueryKey;
    activeSchool: () => QueryKey;
    devices: () => QueryKey;
    passkeys: () => QueryKey;
  };
  messages: {
    box: (box?: string, classId?: string) => QueryKey;
    one: (id: string) => QueryKey;
    unread: () => QueryKey;
  };
  removal: { ofClass: (id: string) => QueryKey; ofCourse: (id: string) => QueryKey; ofGroup: (id: string) => QueryKey };
  room: { one: (groupId: string) => Key<Schemas["WorkRoom"]> };
  rubrics: { list: () => QueryKey; one: (id: string) => QueryKey };
  schools: { of: (userId: string) => QueryKey };
  snippets: { list: () => QueryKey };
  subjects: { list: () => QueryKey; active: () => QueryKey };
  submissions: {
    overview: (query: object) => QueryKey;
    attempts: (groupAssignmentId: string) => QueryKey;
    grades: (submissionId: string, count: number) => QueryKey;
    gradeBook: (classId: string, courseId?: string) => QueryKey;
  };
  tenants: { list: (search: string) => QueryKey; members: (id: string) => QueryKey; system: () => QueryKey };
  users: {
    list: (filters?: object) => QueryKey;
    one: (id: string) => QueryKey;
    named: (roles?: readonly string[], search?: string, limit?: number) => QueryKey;
    found: (search?: string) => QueryKey;
    unseen: (homeroomId?: string) => QueryKey;
    everybody: () => QueryKey;
    staff: () => QueryKey;
    addressees: (search?: string) => QueryKey;
  };
}

/** Makes `queryKeys.board.one(id)` the key `["board", "one", id]`: two names never have the same key. */
export const queryKeys = new Proxy({} as QueryKeys, {
  get: (_, family) =>
    new Proxy(
      {},
      {
        get:
          (__, name) =>
          (...parts: unknown[]) => [family, name, ...parts],
      },
    ),
});

export type Family = keyof QueryKeys;

/** The families with a single data type, and that type. */
interface UniformFamilies {
  board: Schemas["Board"];
  room: Schemas["WorkRoom"];
}

/** Key prefixes of some families, for callers that handle them one by one. */
export const familyKeys = (...names: Family[]): QueryKey[] => names.map((name) => [name]);

/** Marks all queries of these families as stale and refetches those that are shown. */
export const invalidate = (cache: QueryClient, ...names: Family[]): Promise<unknown> =>
  Promise.all(familyKeys(...names).map((queryKey) => cache.invalidateQueries({ queryKey })));

/** Marks queries as stale without refetching; pages opened later fetch the new state. */
export const markStale = (cache: QueryClient, ...names: Family[]): void => {
  for (const queryKey of familyKeys(...names)) void cache.invalidateQueries({ queryKey, refetchType: "none" });
};

/** All cached data of a family. */
export const getFamily = <F extends keyof UniformFamilies>(cache: QueryClient, family: F): UniformFamilies[F][] =>
  cache
    .getQueriesData<UniformFamilies[F]>({ queryKey: [family] })
    .flatMap(([, found]) => (found === undefined ? [] : [found]));

/** Updates all cached data of a family. */
export const updateFamily = <F extends keyof UniformFamilies>(
  cache: QueryClient,
  family: F,
  change: (found: UniformFamilies[F]) => UniformFamilies[F],
): void =>
  void cache.setQueriesData<UniformFamilies[F]>({ queryKey: [family] }, (found) =>
    found === undefined ? undefined : change(found),
  );
