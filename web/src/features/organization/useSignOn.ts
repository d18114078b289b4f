// Sign-on providers of a school, for its administrators.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type SignOnProvider = Schemas["SignOnProvider"];

export const signOnQuery = queryOptions({
  queryKey: queryKeys.admin.signOn(),
  queryFn: () => unwrap(client.GET("/admin/sign-on")),
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
