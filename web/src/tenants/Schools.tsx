import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../api/client";
import { useSay } from "../lib/problems";
import { chooseSchool, type Me } from "../lib/session";
import { useTime } from "../lib/time";
import { RowText } from "../features/organization/RowText";
import { Asked } from "../ui/Ask";
import { Button } from "../ui/Button";
import { Chip } from "../ui/Chip";
import { Empty } from "../ui/Empty";
import { Field } from "../ui/Field";
import { type ColumnOf, Grid } from "../ui/Grid";
import { More } from "../ui/More";
import { note } from "../ui/notes";
import { Problems } from "../ui/Problems";
import { Rows } from "../ui/Rows";
import { TenantDomains } from "./Domains";
import { Edit } from "./Edit";
import { Found } from "./Found";
import { Members } from "./Members";
import { type Tenant, tenants } from "./tenants";

type Over = { is: "edit" | "members" | "domains" | "suspend" | "delete"; tenant: Tenant } | { is: "new" };

/** All schools, and what can be done with each. */
export function Schools({ person, search, onSearch }: { person: Me; search: string; onSearch: (search: string) => void }) {
  const { t } = useTranslation();
  const { day } = useTime();
  const list = useQuery(tenants(search.trim()));
  const [over, setOver] = useState<Over>();
  const deeds = useDeeds(person);
  const columns: ColumnOf<Tenant>[] = [
    { id: "name", name: t("tenants.name"), cell: (one) => <RowText>{one.name}</RowText> },
    { id: "slug", name: t("tenants.slug"), isExtra: true, cell: (one) => <RowText>{one.slug}</RowText> },
    { id: "domain", name: t("tenants.domain"), isExtra: true, cell: (one) => <RowText>{one.customDomain ?? "–"}</RowText> },
    { id: "status", name: t("tenants.status"), cell: (one) => <RowText><Chip tone={one.status === "ACTIVE" ? "good" : "warn"}>{t(`tenants.is.${one.status}`)}</Chip></RowText> },
    { id: "created", name: t("tenants.created"), isExtra: true, cell: (one) => <RowText>{day(one.createdAt)}</RowText> },
    {
      id: "deeds",
      name: t("tenants.deeds"),
      isSlim: true,
      cell: (one) => (
        <span className="flex gap-1">
          <Button isPending={deeds.enter.isPending} onPress={() => deeds.enter.mutate(one)} aria-label={t("tenants.enterOf", { name: one.name })}>
            {t("tenants.enter")}
          </Button>
          <More
            label={one.name}
            deeds={[
              { id: "edit", name: t("tenants.edit"), onAction: () => setOver({ is: "edit", tenant: one }) },
              { id: "members", name: t("tenants.members"), onAction: () => setOver({ is: "members", tenant: one }) },
              { id: "domains", name: t("domains.open"), onAction: () => setOver({ is: "domains", tenant: one }) },
              one.status === "ACTIVE"
                ? { id: "suspend", name: t("tenants.suspend"), isDanger: true, onAction: () => setOver({ is: "suspend", tenant: one }) }
                : { id: "activate", name: t("tenants.activate"), onAction: () => deeds.open.mutate(one) },
              { id: "delete", name: t("tenants.delete"), isDanger: true, onAction: () => setOver({ is: "delete", tenant: one }) },
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
          <Field label={t("app.search")} type="search" value={search} onChange={onSearch} />
        </div>
        <Button kind="main" onPress={() => setOver({ is: "new" })}>
          {t("tenants.new")}
        </Button>
      </div>
      {list.isPending ? <Rows count={3} /> : null}
      {list.isError && !list.data ? <Problems problem={list.error} again={() => void list.refetch()} /> : null}
      {list.data?.length === 0 && search === "" ? <Empty action={<Button onPress={() => setOver({ is: "new" })}>{t("tenants.new")}</Button>}>{t("school.first")}</Empty> : null}
      {list.data && (list.data.length > 0 || search !== "") ? <Grid label={t("nav.tenants")} columns={columns} rows={list.data} none={t("tenants.none")} /> : null}
      {over ? <Windows person={person} over={over} deeds={deeds} close={() => setOver(undefined)} /> : null}
    </div>
  );
}

function Windows({ person, over, deeds, close }: { person: Me; over: Over; deeds: ReturnType<typeof useDeeds>; close: () => void }) {
  const { t } = useTranslation();
  if (over.is === "new") return <Found onClose={close} />;
  const { tenant } = over;
  if (over.is === "edit") return <Edit tenant={tenant} onClose={close} />;
  if (over.is === "members") return <Members person={person} tenant={tenant} onClose={close} />;
  if (over.is === "domains") return <TenantDomains tenant={tenant} onClose={close} />;
  if (over.is === "suspend")
    return <Asked title={t("tenants.suspendTitle", { name: tenant.name })} text={t("tenants.suspendText")} yes={t("tenants.suspendYes")} onYes={() => deeds.shut.mutate(tenant)} onClose={close} />;
  return <Asked title={t("tenants.deleteTitle", { name: tenant.name })} text={t("tenants.deleteText")} yes={t("tenants.deleteYes")} typed={tenant.slug} onYes={() => deeds.remove.mutate(tenant)} onClose={close} />;
}

/** Entering, shutting, opening and deleting a school. */
function useDeeds(person: Me) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const say = useSay();
  const onError = (problem: unknown) => note(say(problem));
  const path = (tenant: Tenant) => ({ params: { path: { id: tenant.id } } });
  const changed = (text: string) => {
    note(text);
    return cache.invalidateQueries();
  };
  const open = useMutation({
    mutationFn: (tenant: Tenant) => client.POST("/tenants/{id}/activate", path(tenant)),
    onSuccess: (_, tenant) => changed(t("tenants.activated", { name: tenant.name })),
    onError,
  });
  const shut = useMutation({
    mutationFn: (tenant: Tenant) => client.POST("/tenants/{id}/suspend", path(tenant)),
    onSuccess: (_, tenant) => {
      note(t("tenants.suspended", { name: tenant.name }), () => open.mutate(tenant));
      return cache.invalidateQueries();
    },
    onError,
  });
  const remove = useMutation({
    mutationFn: (tenant: Tenant) => client.DELETE("/tenants/{id}", { ...path(tenant), body: { confirm: tenant.slug } }),
    onSuccess: (_, tenant) => changed(t("tenants.deleted", { name: tenant.name })),
    onError,
  });
  const enter = useMutation({
    mutationFn: (tenant: Tenant) => chooseSchool(cache, person, tenant.id),
    onSuccess: () => navigate({ to: "/" }),
    onError,
  });
  return { open, shut, remove, enter };
}
