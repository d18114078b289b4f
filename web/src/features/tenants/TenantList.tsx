import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { chooseSchool, type Me } from "../../auth/session";
import { useTime } from "../../i18n/time";
import { RowText } from "../../components/RowText";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { EmptyState } from "../../components/base/EmptyState";
import { TextField } from "../../forms/TextField";
import { type DataColumn, DataTable } from "../../components/DataTable";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { ListSkeleton } from "../../components/ListSkeleton";
import { TenantDomainsDialog } from "./TenantDomainsDialog";
import { EditTenantDialog } from "./EditTenantDialog";
import { CreateTenantDialog } from "./CreateTenantDialog";
import { TenantMembersDialog } from "./TenantMembersDialog";
import { type Tenant, tenantsQuery } from "./tenants";

type TenantDialog = { is: "edit" | "members" | "domains" | "suspend" | "delete"; tenant: Tenant } | { is: "new" };

/** All schools and the actions on each. */
export function TenantList({
  person,
  search,
  onSearch,
}: {
  person: Me;
  search: string;
  onSearch: (search: string) => void;
}) {
  const { t } = useTranslation();
  const { day } = useTime();
  const list = useQuery(tenantsQuery(search.trim()));
  const [dialog, setDialog] = useState<TenantDialog>();
  const actions = useTenantActions(person);
  const columns: DataColumn<Tenant>[] = [
    { id: "name", name: t("tenants.name"), cell: (one) => <RowText>{one.name}</RowText> },
    { id: "slug", name: t("tenants.slug"), isExtra: true, cell: (one) => <RowText>{one.slug}</RowText> },
    {
      id: "domain",
      name: t("tenants.domain"),
      isExtra: true,
      cell: (one) => <RowText>{one.customDomain ?? "–"}</RowText>,
    },
    {
      id: "status",
      name: t("tenants.status"),
      cell: (one) => (
        <RowText>
          <Badge tone={one.status === "ACTIVE" ? "good" : "warn"}>{t(`tenants.is.${one.status}`)}</Badge>
        </RowText>
      ),
    },
    {
      id: "created",
      name: t("tenants.created"),
      isExtra: true,
      cell: (one) => <RowText>{day(one.createdAt)}</RowText>,
    },
    {
      id: "deeds",
      name: t("tenants.deeds"),
      isSlim: true,
      cell: (one) => (
        <span className="flex gap-1">
          <Button
            isPending={actions.enter.isPending}
            onPress={() => actions.enter.mutate(one)}
            aria-label={t("tenants.enterOf", { name: one.name })}
          >
            {t("tenants.enter")}
          </Button>
          <OverflowMenu
            label={one.name}
            actions={[
              { id: "edit", name: t("tenants.edit"), onAction: () => setDialog({ is: "edit", tenant: one }) },
              { id: "members", name: t("tenants.members"), onAction: () => setDialog({ is: "members", tenant: one }) },
              { id: "domains", name: t("domains.open"), onAction: () => setDialog({ is: "domains", tenant: one }) },
              one.status === "ACTIVE"
                ? {
                    id: "suspend",
                    name: t("tenants.suspend"),
                    isDanger: true,
                    onAction: () => setDialog({ is: "suspend", tenant: one }),
                  }
                : { id: "activate", name: t("tenants.activate"), onAction: () => actions.open.mutate(one) },
              {
                id: "delete",
                name: t("tenants.delete"),
                isDanger: true,
                onAction: () => setDialog({ is: "delete", tenant: one }),
              },
            ]}
          />
        </span>
      ),
    },
  ];
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <div className="w-full max-w-xs">
          <TextField label={t("app.search")} type="search" value={search} onChange={onSearch} />
        </div>
        <Button kind="main" onPress={() => setDialog({ is: "new" })}>
          {t("tenants.new")}
        </Button>
      </div>
      {list.isPending ? <ListSkeleton count={3} /> : null}
      {list.isError && !list.data ? <ErrorMessage problem={list.error} onRetry={() => void list.refetch()} /> : null}
      {list.data?.length === 0 && search === "" ? (
        <EmptyState action={<Button onPress={() => setDialog({ is: "new" })}>{t("tenants.new")}</Button>}>
          {t("school.first")}
        </EmptyState>
      ) : null}
      {list.data && (list.data.length > 0 || search !== "") ? (
        <DataTable label={t("nav.tenants")} columns={columns} rows={list.data} none={t("tenants.none")} />
      ) : null}
      {dialog ? (
        <TenantDialogs person={person} dialog={dialog} actions={actions} close={() => setDialog(undefined)} />
      ) : null}
    </div>
  );
}

function TenantDialogs({
  person,
  dialog,
  actions,
  close,
}: {
  person: Me;
  dialog: TenantDialog;
  actions: ReturnType<typeof useTenantActions>;
  close: () => void;
}) {
  const { t } = useTranslation();
  if (dialog.is === "new") return <CreateTenantDialog onClose={close} />;
  const { tenant } = dialog;
  if (dialog.is === "edit") return <EditTenantDialog tenant={tenant} onClose={close} />;
  if (dialog.is === "members") return <TenantMembersDialog person={person} tenant={tenant} onClose={close} />;
  if (dialog.is === "domains") return <TenantDomainsDialog tenant={tenant} onClose={close} />;
  if (dialog.is === "suspend")
    return (
      <ConfirmDialog
        title={t("tenants.suspendTitle", { name: tenant.name })}
        text={t("tenants.suspendText")}
        confirmLabel={t("tenants.suspendYes")}
        onConfirm={() => actions.shut.mutate(tenant)}
        onClose={close}
      />
    );
  return (
    <ConfirmDialog
      title={t("tenants.deleteTitle", { name: tenant.name })}
      text={t("tenants.deleteText")}
      confirmLabel={t("tenants.deleteYes")}
      requiredText={tenant.slug}
      onConfirm={() => actions.remove.mutate(tenant)}
      onClose={close}
    />
  );
}

/** Enters, suspends, reactivates and deletes schools. */
function useTenantActions(person: Me) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const errorText = useErrorText();
  const onError = (problem: unknown) => toast(errorText(problem));
  const path = (tenant: Tenant) => ({ params: { path: { id: tenant.id } } });
  const onChanged = (text: string) => {
    toast(text);
    return cache.invalidateQueries();
  };
  const reactivate = useMutation({
    mutationFn: (tenant: Tenant) => client.POST("/tenants/{id}/activate", path(tenant)),
    onSuccess: (_, tenant) => onChanged(t("tenants.activated", { name: tenant.name })),
    onError,
  });
  const suspend = useMutation({
    mutationFn: (tenant: Tenant) => client.POST("/tenants/{id}/suspend", path(tenant)),
    onSuccess: (_, tenant) => {
      toast(t("tenants.suspended", { name: tenant.name }), () => reactivate.mutate(tenant));
      return cache.invalidateQueries();
    },
    onError,
  });
  const remove = useMutation({
    mutationFn: (tenant: Tenant) => client.DELETE("/tenants/{id}", { ...path(tenant), body: { confirm: tenant.slug } }),
    onSuccess: (_, tenant) => onChanged(t("tenants.deleted", { name: tenant.name })),
    onError,
  });
  const enter = useMutation({
    mutationFn: (tenant: Tenant) => chooseSchool(cache, person, tenant.id),
    onSuccess: () => navigate({ to: "/" }),
    onError,
  });
  return { open: reactivate, shut: suspend, remove, enter };
}
