// Roster sources of a school and their runs, for its administrators.
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type RosterSource = Schemas["RosterSource"];
export type RosterRun = Schemas["RosterRun"];
export type RosterEffect = Schemas["RosterEffect"];

/** Whether a run has neither ended nor waits for a confirmation. */
export const isOpen = (run: RosterRun | undefined): boolean => run?.state === "QUEUED" || run?.state === "RUNNING";

export const rostersQuery = queryOptions({
  queryKey: queryKeys.admin.rosters(),
  queryFn: () => unwrap(client.GET("/admin/rosters")),
});

/** The runs of a source, newest first, in pages. */
export const rosterRunsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: queryKeys.admin.rosterRuns(id),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/admin/rosters/{id}/runs", {
          params: { path: { id }, query: { limit: 20, ...(pageParam === "" ? {} : { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    // Events announce changes; without a socket, an open run is shown until it has ended.
    refetchInterval: ({ state }) => (isOpen(state.data?.pages[0]?.data[0]) ? 5000 : false),
  });

/** The entries of a run with one effect, in pages. */
export const rosterEntriesQuery = (id: string, run: RosterRun, effect: RosterEffect) =>
  infiniteQueryOptions({
    queryKey: queryKeys.admin.rosterEntries(id, run.id, run.state, effect),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/admin/rosters/{id}/runs/{runId}/entries", {
          params: {
            path: { id, runId: run.id },
            query: { effect, limit: 50, ...(pageParam === "" ? {} : { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });

/** What administrators do with a source and its runs. */
export function useRoster(id: string) {
  const cache = useQueryClient();
  const refresh = () => cache.invalidateQueries({ queryKey: queryKeys.admin.rosterRuns(id) });
  const path = { id };
  const test = useMutation({ mutationFn: () => unwrap(client.POST("/admin/rosters/{id}/test", { params: { path } })) });
  const remove = useMutation({
    mutationFn: () => client.DELETE("/admin/rosters/{id}", { params: { path } }),
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.admin.rosters() }),
  });
  const start = useMutation({
    mutationFn: (isDryRun: boolean) =>
      unwrap(client.POST("/admin/rosters/{id}/runs", { params: { path }, body: { isDryRun } })),
    onSettled: refresh,
  });
  const confirm = useMutation({
    mutationFn: (run: RosterRun) =>
      unwrap(
        client.POST("/admin/rosters/{id}/runs/{runId}/confirm", {
          params: { path: { id, runId: run.id } },
          body: { difference: run.difference ?? "" },
        }),
      ),
    onSettled: refresh,
  });
  const discard = useMutation({
    mutationFn: (run: RosterRun) =>
      unwrap(client.POST("/admin/rosters/{id}/runs/{runId}/discard", { params: { path: { id, runId: run.id } } })),
    onSettled: refresh,
  });
  return { test, remove, start, confirm, discard };
}
