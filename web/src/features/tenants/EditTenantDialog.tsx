import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { toast } from "../../components/base/toast";
import { FormDialog } from "../../forms/FormDialog";
import { TextField } from "../../forms/TextField";
import { SlugField } from "./SlugField";
import { useForm } from "../../forms/useForm";
import { formatQuota, parseQuota, type Tenant } from "./tenants";

/** Settings of a school that only platform administrators change: addresses and quota. */
export function EditTenantDialog({ tenant, onClose }: { tenant: Tenant; onClose: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const form = useForm({
    initial: {
      name: tenant.name,
      slug: tenant.slug,
      customDomain: tenant.customDomain ?? "",
      storageQuota: formatQuota(tenant.storageQuota),
      groupStorageQuota: formatQuota(tenant.groupStorageQuota),
    },
    send: ({ name, slug, customDomain, storageQuota, groupStorageQuota }) =>
      unwrap(
        client.PATCH("/tenants/{id}", {
          params: { path: { id: tenant.id } },
          body: {
            name,
            slug,
            customDomain: customDomain.trim() || null,
            storageQuota: parseQuota(storageQuota) ?? null,
            groupStorageQuota: parseQuota(groupStorageQuota) ?? null,
          },
        }),
      ),
    onSent: () => {
      toast(t("app.saved"));
      onClose();
      return cache.invalidateQueries();
    },
  });
  const quotaField = (name: "storageQuota" | "groupStorageQuota") => {
    const field = form.field(name);
    return parseQuota(field.value) === undefined ? { ...field, problem: t("tenants.noAmount") } : field;
  };
  const quotas = [quotaField("storageQuota"), quotaField("groupStorageQuota")] as const;
  const isValid = quotas.every((field) => parseQuota(field.value) !== undefined);
  return (
    <FormDialog
      title={t("tenants.editTitle", { name: tenant.name })}
      form={{ ...form, submit: (fields) => isValid && form.submit(fields) }}
      submitLabel={t("app.save")}
      onClose={onClose}
    >
      <TextField autoFocus label={t("tenants.name")} maxLength={120} isRequired {...form.field("name")} />
      <SlugField {...form.field("slug")} />
      <TextField
        label={t("tenants.domain")}
        hint={t("tenants.domainHint", { host: location.hostname })}
        maxLength={253}
        {...form.field("customDomain")}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t("tenants.storage")} hint={t("tenants.quotaHint")} inputMode="decimal" {...quotas[0]} />
        <TextField label={t("tenants.groupStorage")} hint={t("tenants.quotaHint")} inputMode="decimal" {...quotas[1]} />
      </div>
    </FormDialog>
  );
}
