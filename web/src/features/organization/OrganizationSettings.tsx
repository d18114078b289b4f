import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { FormBody } from "../../forms/FormDialog";
import { useVersionedForm } from "../../forms/useForm";
import { client, type Schemas } from "../../api/client";
import { meQuery } from "../../auth/session";
import { ifMatch, type Versioned, withVersion } from "../../api/versions";
import { isLanguage, LANGUAGES, setFormalAddress, TAGS } from "../../i18n";
import { Checkbox } from "../../forms/Checkbox";
import { OptionalSelect } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { EditConflict } from "../../forms/EditConflict";
import { toast } from "../../components/base/toast";
import { RadioGroup } from "../../forms/RadioGroup";
import { settingsQuery } from "./organization";
import { SettingsSection } from "../../components/SettingsSection";
import { TimeZoneField } from "../../forms/TimeZoneField";

type OrganizationData = Schemas["Organization"];

function initialForm(school: OrganizationData) {
  const { timezone, locale, gradeScale, lateDefault, requireSecondFactor, features } = school.metadata ?? {};
  return {
    name: school.name,
    timezone: timezone ?? null,
    locale: locale?.slice(0, 2) ?? null,
    gradeScale: gradeScale ?? "",
    lateDefault: lateDefault ?? "ALLOW",
    requireSecondFactor: requireSecondFactor ?? ("none" as const),
    teachersAddSubjects: features?.teachersAddSubjects ?? false,
    studentsChangeNames: features?.studentsChangeNames ?? false,
    formalAddress: features?.formalAddress ?? false,
    passwordsForOwnersOnly: features?.passwordsForOwnersOnly ?? false,
    documentPlayback: features?.documentPlayback ?? false,
  };
}

/** A form value as text. */
const valueText = (value: string | boolean | null): string =>
  typeof value === "boolean" ? (value ? "✓" : "✗") : (value ?? "");

const LABELS = {
  name: "organisation.name",
  timezone: "organisation.zone",
  locale: "organisation.language",
  gradeScale: "organisation.scale",
  lateDefault: "organisation.late",
  requireSecondFactor: "organisation.factor",
  teachersAddSubjects: "organisation.teachersAddSubjects",
  studentsChangeNames: "organisation.studentsChangeNames",
  formalAddress: "organisation.formalAddress",
  passwordsForOwnersOnly: "organisation.passwordsForOwnersOnly",
  documentPlayback: "organisation.documentPlayback",
} as const;

/** Name and rules of the school. */
export function OrganizationSettings({ school }: { school: Versioned<OrganizationData> }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const form = useVersionedForm({
    item: school,
    valuesOf: initialForm,
    send: ({ name, timezone, locale, gradeScale, lateDefault, requireSecondFactor, ...features }, base) => {
      const metadata = {
        timezone,
        locale: locale !== null && isLanguage(locale) ? TAGS[locale] : null,
        gradeScale: gradeScale.trim() || null,
        lateDefault,
        requireSecondFactor: requireSecondFactor === "none" ? null : requireSecondFactor,
        features,
      };
      return withVersion(client.PATCH("/admin/settings", { body: { name, metadata }, ...ifMatch(base) }));
    },
    onSent: (saved) => {
      form.setBase(saved);
      cache.setQueryData(settingsQuery.queryKey, saved);
      void setFormalAddress(saved.metadata?.features?.formalAddress === true);
      toast(t("app.saved"));
      return cache.invalidateQueries({ queryKey: meQuery.queryKey });
    },
  });
  return (
    <FormBody form={form} submitLabel={t("app.save")}>
      <SettingsSection title={t("organisation.school")}>
        <TextField label={t("organisation.name")} maxLength={120} isRequired {...form.field("name")} />
        <div className="grid gap-4 sm:grid-cols-2">
          <TimeZoneField
            label={t("organisation.zone")}
            none={t("organisation.zoneNone")}
            {...form.field("timezone", "metadata.timezone")}
          />
          <OptionalSelect
            label={t("organisation.language")}
            none={t("organisation.languageNone")}
            options={Object.entries(LANGUAGES).map(([id, name]) => ({ id, name }))}
            {...form.field("locale", "metadata.locale")}
          />
        </div>
        <Checkbox {...form.check("formalAddress")}>{t("organisation.formalAddress")}</Checkbox>
      </SettingsSection>
      <SettingsSection title={t("organisation.rules")} text={t("organisation.rulesText")}>
        <TextField
          label={t("organisation.scale")}
          hint={t("organisation.scaleHint")}
          maxLength={200}
          {...form.field("gradeScale", "metadata.gradeScale")}
        />
        <RadioGroup
          label={t("organisation.late")}
          options={[
            { id: "ALLOW", name: t("organisation.lateAllow") },
            { id: "BLOCK", name: t("organisation.lateBlock") },
          ]}
          {...form.field("lateDefault")}
        />
        <Checkbox {...form.check("teachersAddSubjects")}>{t("organisation.teachersAddSubjects")}</Checkbox>
        <Checkbox {...form.check("studentsChangeNames")}>{t("organisation.studentsChangeNames")}</Checkbox>
        <Checkbox {...form.check("documentPlayback")}>{t("organisation.documentPlayback")}</Checkbox>
      </SettingsSection>
      <SettingsSection title={t("organisation.security")} text={t("organisation.securityText")}>
        <RadioGroup
          label={t("organisation.factor")}
          options={[
            { id: "none", name: t("organisation.factorNone") },
            { id: "admins", name: t("organisation.factorAdmins") },
            { id: "staff", name: t("organisation.factorStaff") },
          ]}
          {...form.field("requireSecondFactor", "metadata.requireSecondFactor")}
        />
        <Checkbox {...form.check("passwordsForOwnersOnly")}>{t("organisation.passwordsForOwnersOnly")}</Checkbox>
      </SettingsSection>
      <EditConflict
        differences={form.differences}
        label={(field) => t(LABELS[field])}
        current={(field) => valueText(initialForm(form.base)[field])}
      />
    </FormBody>
  );
}
