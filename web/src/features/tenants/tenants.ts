// The schools of the installation, for platform administrators.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type Tenant = Schemas["Organization"];

export const tenantsQuery = (search: string) =>
  queryOptions({
    queryKey: queryKeys.tenants.list(search),
    queryFn: () => unwrap(client.GET("/tenants", { params: { query: search === "" ? {} : { search } } })),
    placeholderData: keepPreviousData,
  });

export const tenantMembersQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: queryKeys.tenants.members(id),
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/tenants/{id}/members", {
          params: { path: { id }, query: pageParam === null ? {} : { cursor: pageParam } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });

export const systemQuery = queryOptions({
  queryKey: queryKeys.tenants.system(),
  queryFn: () => unwrap(client.GET("/admin/system")),
});

const GIGABYTE = 1_000_000_000;

/** Formats a quota in gigabytes; empty for the default. */
export const formatQuota = (bytes: number | null | undefined): string =>
  bytes === null || bytes === undefined ? "" : String(bytes / GIGABYTE);

/** Parses a quota to bytes; null for the default, undefined if invalid. */
export function parseQuota(typed: string): number | null | undefined {
  if (typed.trim() === "") return null;
  const amount = Number(typed.trim().replace(",", "."));
  return Number.isFinite(amount) && amount >= 0 ? Math.round(amount * GIGABYTE) : undefined;
}

/** Suggests a slug for a name. */
export function suggestSlug(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll("ä", "ae")
    .replaceAll("ö", "oe")
    .replaceAll("ü", "ue")
    .replaceAll("ß", "ss")
    .normalize("NFD");
  return plain
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 63)
    .replace(/-+$/, "");
}
