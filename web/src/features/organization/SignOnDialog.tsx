import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { client, unwrap, type Schemas } from "../../api/client";
import { toast } from "../../components/base/toast";
import { Checkbox } from "../../forms/Checkbox";
import { FormDialog } from "../../forms/FormDialog";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { useForm } from "../../forms/useForm";
import { PRESETS } from "./signOnPresets";
import type { SignOnProvider } from "./useSignOn";

const LINKINGS: Schemas["LinkingRule"][] = ["ADMINISTRATOR", "EXTERNAL_ID", "VERIFIED_DOMAIN"];
const CREATIONS: Schemas["AccountCreation"][] = ["NEVER", "STUDENTS", "BY_CLAIM"];

/** The entries of a text with commas, each once. */
const listed = (text: string) => [
  ...new Set(
    text
      .split(",")
      .map((entry) => entry.trim())
      .filter(Boolean),
  ),
];

/** Adds a sign-on provider, or edits everything but its issuer. */
export function SignOnDialog({ provider, onClose }: { provider: SignOnProvider | null; onClose: () => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initial: {
      name: provider?.name ?? "",
      preset: provider?.preset ?? ("KEYCLOAK" as Schemas["SignOnPreset"]),
      issuer: provider?.issuer ?? "",
      clientId: provider?.clientId ?? "",
      clientSecret: "",
      linking: provider?.linking ?? ("ADMINISTRATOR" as Schemas["LinkingRule"]),
      externalIdClaim: provider?.externalIdClaim ?? "",
      accountCreation: provider?.accountCreation ?? ("NEVER" as Schemas["AccountCreation"]),
      roleClaim: provider?.roleClaim ?? "",
      teacherValues: provider?.teacherValues.join(", ") ?? "",
      domains: provider?.domains.join(", ") ?? "",
      isEnabled: provider?.isEnabled ?? true,
    },
    send: ({ issuer, clientSecret, teacherValues, domains, ...rest }) => {
      const body = { ...rest, teacherValues: listed(teacherValues), domains: listed(domains) };
      return provider
        ? unwrap(
            client.PATCH("/admin/sign-on/{id}", {
              params: { path: { id: provider.id } },
              body: { ...body, ...(clientSecret === "" ? {} : { clientSecret }) },
            }),
          )
        : unwrap(client.POST("/admin/sign-on", { body: { ...body, issuer: issuer.trim(), clientSecret } }));
    },
    refreshes: ["admin"],
    onSent: ({ name }) => {
      toast(provider ? t("app.saved") : t("signOn.added", { name }));
      onClose();
    },
  });
  const { values } = form;
  return (
    <FormDialog
      title={provider ? t("signOn.editTitle", { name: provider.name }) : t("signOn.addTitle")}
      form={form}
      submitLabel={t("app.save")}
      onClose={onClose}
    >
      <TextField label={t("signOn.name")} isRequired maxLength={120} {...form.field("name")} />
      <Select
        label={t("signOn.preset")}
        options={PRESETS.map((id) => ({ id, name: t(`signOn.presets.${id}`) }))}
        {...form.field("preset")}
      />
      <Link
        to="/admin/sign-on/$preset"
        params={{ preset: values.preset }}
        target="_blank"
        className="inline-flex min-h-11 items-center self-start underline"
      >
        {t("signOn.instructionsFor", { product: t(`signOn.presets.${values.preset}`) })}
      </Link>
      {provider ? null : (
        <TextField
          label={t("signOn.issuer")}
          hint={t("signOn.issuerHint")}
          type="url"
          isRequired
          maxLength={500}
          {...form.field("issuer")}
        />
      )}
      <TextField label={t("signOn.clientId")} isRequired maxLength={500} {...form.field("clientId")} />
      <TextField
        label={t("signOn.clientSecret")}
        {...(provider ? { hint: t("signOn.secretKept") } : {})}
        isRequired={provider === null}
        autoComplete="off"
        maxLength={2000}
        {...form.field("clientSecret")}
      />
      <Select
        label={t("signOn.linking")}
        hint={t("signOn.linkingHint")}
        options={LINKINGS.map((id) => ({ id, name: t(`signOn.linkings.${id}`) }))}
        {...form.field("linking")}
      />
      {values.linking === "EXTERNAL_ID" ? (
        <TextField label={t("signOn.externalIdClaim")} isRequired maxLength={200} {...form.field("externalIdClaim")} />
      ) : null}
      <Select
        label={t("signOn.creation")}
        hint={t("signOn.creationHint")}
        options={CREATIONS.map((id) => ({ id, name: t(`signOn.creations.${id}`) }))}
        {...form.field("accountCreation")}
      />
      {values.accountCreation === "BY_CLAIM" ? (
        <>
          <TextField label={t("signOn.roleClaim")} isRequired maxLength={200} {...form.field("roleClaim")} />
          <TextField label={t("signOn.teacherValues")} maxLength={2000} {...form.field("teacherValues")} />
        </>
      ) : null}
      <TextField
        label={t("signOn.domains")}
        hint={t("signOn.domainsHint")}
        maxLength={2000}
        {...form.field("domains")}
      />
      <Checkbox isSelected={values.isEnabled} onChange={(isEnabled) => form.set({ isEnabled })}>
        {t("signOn.isEnabled")}
      </Checkbox>
    </FormDialog>
  );
}
