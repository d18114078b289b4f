import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import type { Me } from "../../auth/session";
import { clearPageSchool } from "../../auth/pageSchool";
import { Button } from "../../components/Button";
import { LoadMore } from "../../components/LoadMore";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Dialog } from "../../components/Dialog";
import { type Tenant, tenantMembersQuery } from "./tenants";
import { PendingInvitations } from "./PendingInvitations";

/** Members of a school, and impersonating one of them, which is logged. */
export function TenantMembersDialog({ person, tenant, onClose }: { person: Me; tenant: Tenant; onClose: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const list = useInfiniteQuery(tenantMembersQuery(tenant.id));
  const members = list.data?.pages.flatMap((page) => page.data) ?? [];
  const acting = useImpersonate(tenant.id);
  return (
    <Dialog
      title={t("tenants.membersOf", { name: tenant.name })}
      isOpen
      isWide
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <>
          <p className="text-soft text-sm">{t("tenants.actText")}</p>
          {list.isPending ? <Skeleton count={2} /> : null}
          {list.isError ? <ErrorMessage problem={list.error} onRetry={() => void list.refetch()} /> : null}
          {acting.isError ? (
            <p role="alert" className="text-bad">
              {errorText(acting.error)}
            </p>
          ) : null}
          <PendingInvitations tenant={tenant} />
          {list.data && members.length === 0 ? <p>{t("tenants.noMembers")}</p> : null}
          <ul className="divide-faint divide-y">
            {members.map((one) => (
              <li key={one.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
                <div className="min-w-0 grow">
                  <p className="font-medium">{one.user.name}</p>
                  <p className="text-soft text-sm wrap-anywhere">
                    {t(`activity.role.${one.role}`)} · {one.user.email}
                  </p>
                </div>
                {one.userId === person.id ? null : (
                  <Button
                    isPending={acting.isPending}
                    onPress={() => acting.mutate(one.userId)}
                    aria-label={t("tenants.actAs", { name: one.user.name })}
                  >
                    {t("tenants.act")}
                  </Button>
                )}
              </li>
            ))}
          </ul>
          <p className="flex flex-wrap justify-end gap-2">
            <LoadMore pages={list} />
            <Button kind="main" onPress={close}>
              {t("app.close")}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}

/** Impersonates a user of the school, for an hour at most. */
function useImpersonate(organizationId: string) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async (userId: string) => {
      await client.POST("/auth/admin/impersonate-user", { body: { userId } });
      await client.POST("/auth/organization/set-active", { body: { organizationId } });
    },
    onSuccess: () => {
      clearPageSchool();
      cache.clear();
      return navigate({ to: "/" });
    },
  });
}
