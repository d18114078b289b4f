import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../api/client";
import { queryKeys } from "../api/queryKeys";
import type { Me } from "./session";
import { Button } from "../components/Button";
import { FormAlert } from "./FormAlert";

interface OwnInvitation {
  id: string;
  organizationName: string;
  role: "owner" | "admin" | "teacher" | "student";
}

/** Invitations to the user's own address; none while the address is not verified. */
export function OwnInvitations({ person }: { person: Me }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const list = useQuery({
    queryKey: queryKeys.invitations.own(),
    queryFn: async () =>
      (await unwrap(client.GET("/auth/organization/list-user-invitations"))) as unknown as OwnInvitation[],
    enabled: person.emailVerified,
    retry: false,
  });
  const answer = useMutation({
    mutationFn: ({ id, isAccepted }: { id: string; isAccepted: boolean }) =>
      client.POST(isAccepted ? "/auth/organization/accept-invitation" : "/auth/organization/reject-invitation", {
        body: { invitationId: id },
      }),
    onSuccess: () => cache.invalidateQueries(),
  });
  if (!list.data || list.data.length === 0) return null;
  return (
    <section aria-label={t("invitation.own")} className="flex flex-col gap-2">
      <h2 className="font-semibold">{t("invitation.own")}</h2>
      {answer.isError ? <FormAlert problem={answer.error} /> : null}
      <ul className="divide-faint divide-y">
        {list.data.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center gap-2 py-2">
            <span className="min-w-0 grow wrap-anywhere">
              {one.organizationName} <span className="text-soft text-sm">{t(`role.${one.role}`)}</span>
            </span>
            <Button
              kind="main"
              isPending={answer.isPending}
              aria-label={t("invitation.acceptOf", { name: one.organizationName })}
              onPress={() => answer.mutate({ id: one.id, isAccepted: true })}
            >
              {t("invitation.acceptShort")}
            </Button>
            <Button
              isPending={answer.isPending}
              aria-label={t("invitation.rejectOf", { name: one.organizationName })}
              onPress={() => answer.mutate({ id: one.id, isAccepted: false })}
            >
              {t("invitation.reject")}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
