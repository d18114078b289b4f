import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { fieldError, useErrorText } from "../../i18n/useErrorText";
import { Button } from "../../components/Button";
import { TextField } from "../../forms/TextField";
import { toast } from "../../components/base/toast";
import { Dialog } from "../../components/Dialog";
import { parseQuota, type Tenant, formatQuota } from "./tenants";

/** Settings of a school that only platform administrators change: addresses and quota. */
export function EditTenantDialog({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog title={t("tenants.editTitle", { name: tenant.name })} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => <EditTenantForm tenant={tenant} close={close} />}
    </Dialog>
  );
}

function EditTenantForm({ tenant, close }: { tenant: Tenant; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const [form, setForm] = useState({
    name: tenant.name,
    slug: tenant.slug,
    domain: tenant.customDomain ?? "",
    storage: formatQuota(tenant.storageQuota),
    group: formatQuota(tenant.groupStorageQuota),
  });
  const update = (key: keyof typeof form) => (value: string) => setForm({ ...form, [key]: value });
  const [storage, group] = [parseQuota(form.storage), parseQuota(form.group)];
  const saving = useMutation({
    mutationFn: () =>
      unwrap(
        client.PATCH("/tenants/{id}", {
          params: { path: { id: tenant.id } },
          body: {
            name: form.name,
            slug: form.slug,
            customDomain: form.domain.trim() || null,
            storageQuota: storage ?? null,
            groupStorageQuota: group ?? null,
          },
        }),
      ),
    onSuccess: () => {
      toast(t("app.saved"));
      close();
      return cache.invalidateQueries();
    },
  });
  const at = (path: string) => {
    const problem = fieldError(saving.error, path);
    return problem === undefined ? {} : { problem };
  };
  const amount = (bytes: number | null | undefined) => (bytes === undefined ? { problem: t("tenants.noAmount") } : {});
  const isShownAtField = ["name", "slug", "customDomain", "storageQuota", "groupStorageQuota"].some(
    (path) => "problem" in at(path),
  );
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (storage !== undefined && group !== undefined) saving.mutate();
      }}
    >
      {saving.isError && !isShownAtField ? (
        <p role="alert" className="text-bad">
          {errorText(saving.error)}
        </p>
      ) : null}
      <TextField
        autoFocus
        label={t("tenants.name")}
        value={form.name}
        onChange={update("name")}
        maxLength={120}
        isRequired
        {...at("name")}
      />
      <TextField
        label={t("tenants.slug")}
        hint={t("tenants.slugHint")}
        value={form.slug}
        onChange={update("slug")}
        minLength={2}
        maxLength={63}
        pattern="[a-z0-9\-]+"
        isRequired
        {...at("slug")}
      />
      <TextField
        label={t("tenants.domain")}
        hint={t("tenants.domainHint", { host: location.hostname })}
        value={form.domain}
        onChange={update("domain")}
        maxLength={253}
        {...at("customDomain")}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t("tenants.storage")}
          hint={t("tenants.quotaHint")}
          inputMode="decimal"
          value={form.storage}
          onChange={update("storage")}
          {...at("storageQuota")}
          {...amount(storage)}
        />
        <TextField
          label={t("tenants.groupStorage")}
          hint={t("tenants.quotaHint")}
          inputMode="decimal"
          value={form.group}
          onChange={update("group")}
          {...at("groupStorageQuota")}
          {...amount(group)}
        />
      </div>
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" type="submit" isPending={saving.isPending}>
          {t("app.save")}
        </Button>
      </p>
    </Form>
  );
}
