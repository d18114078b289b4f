import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { useSendsEmail } from "../../api/useSendsEmail";
import { useNow } from "../../hooks/serverClock";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { LoadMore } from "../../components/LoadMore";
import { toast } from "../../components/base/toast";
import { Time } from "../../components/base/Time";
import { invitationsQuery } from "./users";

type Invitation = Schemas["Invitation"];

interface Props {
  /** The organization, for platform administrators who view it from outside. */
  organizationId?: string;
  /** Further actions on an invitation. */
  more?: (invitation: Invitation) => ReactNode;
}

/** Pending invitations. */
export function InvitationList({ organizationId, more }: Props) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const now = useNow(60_000);
  const sendsEmail = useSendsEmail();
  const found = useInfiniteQuery(invitationsQuery(organizationId));
  const onError = (problem: unknown) => void toast(errorText(problem));
  const refresh = () => cache.invalidateQueries({ queryKey: queryKeys.admin.invitations() });
  const resend = useMutation({
    mutationFn: (one: Invitation) =>
      unwrap(client.POST("/admin/invitations/{id}/resend", { params: { path: { id: one.id } } })),
    onSuccess: async (one) => {
      await refresh();
      toast(t(sendsEmail ? "people.invited.sent" : "people.invited.renewed", { email: one.email }));
    },
    onError,
  });
  const cancel = useMutation({
    mutationFn: (one: Invitation) =>
      client.POST("/auth/organization/cancel-invitation", { body: { invitationId: one.id } }),
    onSuccess: async (_, one) => {
      await refresh();
      toast(t("people.invited.canceled", { email: one.email }));
    },
    onError,
  });
  const rows = found.data?.pages.flatMap((page) => page.data) ?? [];
  if (rows.length === 0) return null;
  return (
    <section aria-label={t("people.invited.title")} className="border-faint flex flex-col gap-1 rounded-lg border p-3">
      <h2 className="font-semibold">{t("people.invited.title")}</h2>
      <p className="text-soft text-sm">{t("people.invited.text")}</p>
      <ul className="divide-faint divide-y">
        {rows.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
            <div className="min-w-0 grow">
              <p className="font-medium wrap-anywhere">{one.name}</p>
              <p className="text-soft text-sm wrap-anywhere">
                {t(`role.${one.role}`)} · {one.email} ·{" "}
                {Date.parse(one.expiresAt) < now ? (
                  t("people.invited.expired")
                ) : (
                  <>
                    {t("people.invited.until")} <Time at={one.expiresAt} />
                  </>
                )}
              </p>
            </div>
            {more?.(one)}
            <Button
              isPending={resend.isPending && resend.variables?.id === one.id}
              onPress={() => resend.mutate(one)}
              aria-label={t(sendsEmail ? "people.invited.resendTo" : "people.invited.renewOf", { email: one.email })}
            >
              {t(sendsEmail ? "people.invited.resend" : "people.invited.renew")}
            </Button>
            <Button
              isPending={cancel.isPending && cancel.variables?.id === one.id}
              onPress={() => cancel.mutate(one)}
              aria-label={t("people.invited.cancelOf", { email: one.email })}
            >
              {t("people.invited.cancel")}
            </Button>
          </li>
        ))}
      </ul>
      <LoadMore pages={found} />
    </section>
  );
}
