import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { useSendsEmail } from "../../api/useSendsEmail";
import { language, TAGS } from "../../i18n";
import { TimeZoneField } from "../../forms/TimeZoneField";
import { Button } from "../../components/Button";
import { FormBody } from "../../forms/FormDialog";
import { useForm } from "../../forms/useForm";
import { TextField } from "../../forms/TextField";
import { SlugField } from "./SlugField";
import { Dialog } from "../../components/Dialog";
import { OneTimeSecret } from "../../components/OneTimeSecret";
import { suggestSlug } from "./tenants";

/** Creates a school with its first owner. */
export function CreateTenantDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [created, setCreated] = useState<Schemas["FoundedTenant"]>();
  return (
    <Dialog
      title={created ? t("tenants.founded", { name: created.tenant.name }) : t("tenants.new")}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) =>
        created ? (
          <TenantCreated created={created} close={close} />
        ) : (
          <CreateTenantForm close={close} onCreated={setCreated} />
        )
      }
    </Dialog>
  );
}

function TenantCreated({ created, close }: { created: Schemas["FoundedTenant"]; close: () => void }) {
  const { t } = useTranslation();
  const sendsEmail = useSendsEmail();
  const password = created.temporaryPassword ?? undefined;
  return (
    <>
      <p>
        {created.invitation
          ? t(sendsEmail ? "tenants.ownerInvited" : "tenants.ownerInvitedNoMail", { email: created.invitation.email })
          : t("tenants.ownerNew", { email: created.owner?.email })}
      </p>
      {password === undefined ? null : <OneTimeSecret secret={password} />}
      <Button kind="main" className="self-end" onPress={close}>
        {t("app.close")}
      </Button>
    </>
  );
}

interface CreateTenantFormProps {
  close: () => void;
  onCreated: (founded: Schemas["FoundedTenant"]) => void;
}

function CreateTenantForm({ close, onCreated }: CreateTenantFormProps) {
  const { t } = useTranslation();
  const form = useForm({
    initial: { name: "", slug: null as string | null, ownerName: "", ownerEmail: "", timezone: null as string | null },
    send: ({ timezone, ...values }) =>
      unwrap(
        client.POST("/tenants", {
          body: {
            ...values,
            slug: values.slug ?? suggestSlug(values.name),
            ownerEmail: values.ownerEmail.trim(),
            metadata: { locale: TAGS[language()], ...(timezone === null ? {} : { timezone }) },
          },
        }),
      ),
    refreshes: ["tenants", "schools"],
    onSent: onCreated,
  });
  return (
    <FormBody form={form} submitLabel={t("tenants.found")} close={close}>
      <TextField autoFocus label={t("tenants.name")} maxLength={120} isRequired {...form.field("name")} />
      <SlugField {...form.field("slug")} value={form.values.slug ?? suggestSlug(form.values.name)} />
      <TextField
        label={t("tenants.ownerName")}
        name="ownerName"
        maxLength={120}
        isRequired
        {...form.field("ownerName")}
      />
      <TextField
        label={t("tenants.ownerEmail")}
        hint={t("tenants.ownerHint")}
        name="ownerEmail"
        type="email"
        isRequired
        {...form.field("ownerEmail")}
      />
      <TimeZoneField label={t("organisation.zone")} none={t("organisation.zoneNone")} {...form.field("timezone")} />
    </FormBody>
  );
}
