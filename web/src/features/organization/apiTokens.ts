// API tokens of a school, for its administrators.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { serverNow } from "../../hooks/serverClock";

export type ApiToken = Schemas["ListedApiToken"];
export type TokenScope = ApiToken["scopes"][number];

export const TOKEN_SCOPES: readonly TokenScope[] = ["read", "provisioning", "grades"];
/** Days for which a new token can be valid. */
export const VALIDITIES = ["30", "365", "730"] as const;

export const apiTokensQuery = queryOptions({
  queryKey: queryKeys.admin.tokens(),
  queryFn: () => unwrap(client.GET("/admin/api-tokens")),
});

/** Creates a token that is valid for a number of days from now. */
export function createToken(name: string, scopes: TokenScope[], days: number) {
  const expiresAt = new Date(serverNow() + days * 24 * 60 * 60 * 1000).toISOString();
  return unwrap(client.POST("/admin/api-tokens", { body: { name, scopes, expiresAt } }));
}

export function useRevokeToken() {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => client.DELETE("/admin/api-tokens/{id}", { params: { path: { id } } }),
    onSuccess: () => cache.invalidateQueries({ queryKey: queryKeys.admin.tokens() }),
  });
}
