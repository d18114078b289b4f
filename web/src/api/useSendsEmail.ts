import { queryOptions, useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import { queryKeys } from "./queryKeys";

export const sendsEmailQuery = queryOptions({
  queryKey: queryKeys.health.sendsEmail(),
  queryFn: async () => (await unwrap(client.GET("/health"))).sendsEmail,
  staleTime: Infinity,
});

/**
 * Whether the installation has a mail server. Without one, no text may announce an email. True until the service has
 * responded.
 */
export const useSendsEmail = (): boolean => useQuery(sendsEmailQuery).data ?? true;
