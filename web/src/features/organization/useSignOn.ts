// Sign-on providers of a school, for its administrators.
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type SignOnProvider = Schemas["SignOnProvider"];
export type ExternalIdentity = Schemas["ExternalIdentity"];

export const signOnQuery = queryOptions({
  queryKey: queryKeys.admin.signOn(),
  queryFn: () => unwrap(client.GET("/admin/sign-on")),
});

/** The identities of a provider that are linked to people, newest first, in pages. */
export const identitiesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: queryKeys.admin.identities(id),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/admin/sign-on/{id}/identities", {
          params: { path: { id }, query: { limit: 50, ...(pageParam === "" ? {} : { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });

/** Tests the connection to a provider, and removes it. */
export function useSignOn() {
  const cache = useQueryClient();
  const test = useMutation({
    mutationFn: (id: string) => unwrap(client.POST("/admin/sign-on/{id}/test", { params: { path: { id } } })),
  });
  const remove = useMutation({
    mutationFn: (id: string) => client.DELETE("/admin/sign-on/{id}", { params: { path: { id } } }),
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.admin.signOn() }),
  });
  return { test, remove };
}
