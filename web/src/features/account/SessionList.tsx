import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { SettingsSection } from "../../components/SettingsSection";
import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { type AccountSession, accountSessionsQuery } from "./account";
import { useUserAgentText } from "./userAgent";

/** The sessions of the user; each can be ended. */
export function SessionList() {
  const { t } = useTranslation();
  const list = useQuery(accountSessionsQuery);
  const others = list.data?.filter((one) => !one.isCurrent).length ?? 0;
  const endSession = useEndSession();
  const part = useRef<HTMLDivElement>(null);
  const end = (token: string | undefined) => {
    endSession.mutate(token);
    // The button is removed with its row.
    part.current?.focus();
  };
  return (
    <SettingsSection title={t("me.devices")} text={t("me.devicesText")}>
      {list.isPending ? <Skeleton count={1} /> : null}
      {list.isError ? <ErrorMessage problem={list.error} onRetry={() => void list.refetch()} /> : null}
      <div ref={part} tabIndex={-1} className="outline-none">
        <ul className="divide-faint divide-y">
          {list.data?.map((one) => (
            <SessionRow key={one.id} session={one} end={() => end(one.token)} isPending={endSession.isPending} />
          ))}
        </ul>
      </div>
      {others === 0 ? null : (
        <Button className="self-start" isPending={endSession.isPending} onPress={() => end(undefined)}>
          {t("me.endOthers")}
        </Button>
      )}
    </SettingsSection>
  );
}

/** Ends the session with this token, or all others. */
function useEndSession() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  return useMutation({
    mutationFn: (token: string | undefined) =>
      token === undefined
        ? client.POST("/auth/revoke-other-sessions")
        : client.POST("/auth/revoke-session", { body: { token } }),
    onSuccess: () => {
      toast(t("me.ended"));
      return cache.invalidateQueries({ queryKey: accountSessionsQuery.queryKey });
    },
    onError: (problem) => toast(errorText(problem)),
  });
}

function SessionRow({ session, end, isPending }: { session: AccountSession; end: () => void; isPending: boolean }) {
  const { t } = useTranslation();
  const program = useUserAgentText()(session.userAgent);
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
      <div className="min-w-0 grow">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {program}
          {session.isCurrent ? <Badge tone="good">{t("me.here")}</Badge> : null}
        </p>
        <p className="text-soft text-sm">
          {t("me.since")} <Time at={session.createdAt} />
          {session.ipAddress ? ` · ${session.ipAddress}` : null}
        </p>
      </div>
      {session.isCurrent ? null : (
        <Button isPending={isPending} onPress={end} aria-label={t("me.endOne", { program })}>
          {t("account.signOut")}
        </Button>
      )}
    </li>
  );
}
