// Mail domains of a school, for its administrators and for platform administrators.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";

export type MailDomain = Schemas["MailDomain"];

/** The mail domains of the active school, or of a given one for a SUPER_ADMIN. */
export const mailDomainsQuery = (tenant?: string) =>
  queryOptions({
    queryKey: queryKeys.admin.domains(tenant),
    queryFn: () =>
      unwrap(
        tenant === undefined
          ? client.GET("/admin/domains")
          : client.GET("/tenants/{id}/domains", { params: { path: { id: tenant } } }),
      ),
  });

/** Adds a domain (a SUPER_ADMIN needs no record), checks its record, and removes it. */
export function useMailDomains(tenant?: string) {
  const cache = useQueryClient();
  const onSuccess = () => cache.invalidateQueries({ queryKey: queryKeys.admin.domains() });
  const add = useMutation({
    mutationFn: (domain: string) =>
      unwrap(
        tenant === undefined
          ? client.POST("/admin/domains", { body: { domain } })
          : client.POST("/tenants/{id}/domains", { params: { path: { id: tenant } }, body: { domain } }),
      ),
    onSuccess,
  });
  const check = useMutation({
    mutationFn: (id: string) => unwrap(client.POST("/admin/domains/{id}/check", { params: { path: { id } } })),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: (id: string) =>
      tenant === undefined
        ? client.DELETE("/admin/domains/{id}", { params: { path: { id } } })
        : client.DELETE("/tenants/{id}/domains/{domainId}", { params: { path: { id: tenant, domainId: id } } }),
    onSuccess,
  });
  return { add, check, remove };
}
