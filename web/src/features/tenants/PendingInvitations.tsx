import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate } from "../../api/queryKeys";
import { InvitationList } from "../users/InvitationList";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { OneTimeSecret } from "../../components/OneTimeSecret";
import type { Tenant } from "./tenants";

/** Pending invitations of a school; where no email arrives, a platform administrator confirms them. */
export function PendingInvitations({ tenant }: { tenant: Tenant }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const [accepted, setAccepted] = useState<Schemas["ConfirmedInvitation"]>();
  const confirm = useMutation({
    mutationFn: (id: string) => unwrap(client.POST("/admin/invitations/{id}/confirm", { params: { path: { id } } })),
    onSuccess: async (confirmed) => {
      setAccepted(confirmed);
      await invalidate(cache, "admin", "tenants");
    },
    onError: (problem) => void toast(errorText(problem)),
  });
  return (
    <>
      {accepted ? (
        <div aria-live="polite">
          <p>{t("tenants.confirmed", { email: accepted.invitation.email })}</p>
          {accepted.temporaryPassword ? <OneTimeSecret secret={accepted.temporaryPassword} /> : null}
        </div>
      ) : null}
      <InvitationList
        organizationId={tenant.id}
        more={(one) => (
          <Button
            isPending={confirm.isPending && confirm.variables === one.id}
            onPress={() => confirm.mutate(one.id)}
            aria-label={t("tenants.confirmOf", { email: one.email })}
          >
            {t("tenants.confirm")}
          </Button>
        )}
      />
    </>
  );
}
