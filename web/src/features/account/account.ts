// The user's own account and sessions.
import { queryOptions, useQueryClient } from "@tanstack/react-query";

import { client, unwrap, type Schemas } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { impersonationQuery, meQuery } from "../../auth/session";
import { type Language, setLanguage, TAGS } from "../../i18n";
import { toast } from "../../components/base/toast";

export interface AccountSession {
  id: string;
  token: string;
  createdAt: string;
  updatedAt: string;
  expiresAt: string;
  ipAddress: string | null;
  userAgent: string | null;
  isCurrent: boolean;
}

type SessionResponse = Omit<AccountSession, "isCurrent">;

/** The sessions of the user: the current one first, then by last use. */
export const accountSessionsQuery = queryOptions({
  queryKey: queryKeys.me.devices(),
  queryFn: async (): Promise<AccountSession[]> => {
    const [list, here] = await Promise.all([
      unwrap(client.GET("/auth/list-sessions")) as Promise<SessionResponse[]>,
      unwrap(client.GET("/auth/get-session")) as Promise<{ session: { id: string } } | null>,
    ]);
    const marked = list.map((one) => ({ ...one, isCurrent: one.id === here?.session.id }));
    return marked.toSorted(
      (one, other) => Number(other.isCurrent) - Number(one.isCurrent) || other.updatedAt.localeCompare(one.updatedAt),
    );
  },
});

/** Updates the user's own profile. */
export const updateProfile = (edit: Schemas["ProfileEdit"]) => unwrap(client.PATCH("/users/me", { body: edit }));

/** Changes the language and stores it in the account, except while impersonating. */
export function useChangeLanguage(): (language: Language) => void {
  const cache = useQueryClient();
  const errorText = useErrorText();
  const save = async (language: Language) => {
    if (await cache.ensureQueryData(impersonationQuery)) return;
    cache.setQueryData(meQuery.queryKey, await updateProfile({ locale: TAGS[language] }));
  };
  return (language) => {
    void setLanguage(language);
    save(language).catch((problem: unknown) => toast(errorText(problem)));
  };
}
