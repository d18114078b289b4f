import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, type Schemas } from "../../api/client";
import { fieldError, useErrorText } from "../../i18n/useErrorText";
import { meQuery } from "../../auth/session";
import {
  currentVersion,
  type FieldConflict,
  ifMatch,
  mergeForm,
  type Versioned,
  withVersion,
} from "../../api/versions";
import { isLanguage, LANGUAGES, TAGS } from "../../i18n";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { EditConflict } from "../../forms/EditConflict";
import { toast } from "../../components/base/toast";
import { RadioGroup } from "../../forms/RadioGroup";
import { settingsQuery } from "./organization";
import { SettingsSection } from "./SettingsSection";
import { TimeZoneField } from "../../forms/TimeZoneField";

type OrganizationData = Schemas["Organization"];

/** Form values; an empty string means "not set". */
function initialForm(school: OrganizationData) {
  const { timezone, locale, gradeScale, lateDefault, features } = school.metadata ?? {};
  return {
    name: school.name,
    timezone: timezone ?? null,
    locale: locale?.slice(0, 2) ?? "",
    gradeScale: gradeScale ?? "",
    lateDefault: lateDefault ?? "ALLOW",
    teachersAddSubjects: features?.teachersAddSubjects ?? false,
    studentsChangeNames: features?.studentsChangeNames ?? false,
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
  teachersAddSubjects: "organisation.teachersAddSubjects",
  studentsChangeNames: "organisation.studentsChangeNames",
} as const;

/** Name and rules of the school. */
export function OrganizationSettings({ school }: { school: Versioned<OrganizationData> }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const [form, setForm] = useState(() => initialForm(school));
  // Initial values of the form, and concurrent changes.
  const [base, setBase] = useState(school);
  const [differences, setDifferences] = useState<FieldConflict<typeof form>[]>();
  const update = (part: Partial<typeof form>) => setForm({ ...form, ...part });
  const saving = useMutation({
    mutationFn: () => {
      const { name, timezone, locale, gradeScale, lateDefault, teachersAddSubjects, studentsChangeNames } = form;
      const metadata = {
        timezone,
        locale: isLanguage(locale) ? TAGS[locale] : null,
        gradeScale: gradeScale.trim() || null,
        lateDefault,
        features: { teachersAddSubjects, studentsChangeNames },
      };
      return withVersion(client.PATCH("/admin/settings", { body: { name, metadata }, ...ifMatch(base) }));
    },
    onError: (problem) => {
      const now = currentVersion<OrganizationData>(problem);
      if (now === undefined) return;
      const merged = mergeForm(initialForm(base), form, initialForm(now));
      setForm(merged.form);
      setDifferences(merged.differences);
      setBase(now);
    },
    onSuccess: (saved) => {
      setBase(saved);
      setDifferences(undefined);
      cache.setQueryData(settingsQuery.queryKey, saved);
      toast(t("app.saved"));
      return cache.invalidateQueries({ queryKey: meQuery.queryKey });
    },
  });
  const problem = (path: string) => fieldError(saving.error, path);
  const at = (path: string) => (problem(path) === undefined ? {} : { problem: problem(path) as string });
  const paths = ["name", "metadata.timezone", "metadata.gradeScale"];
  return (
    <Form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate();
      }}
    >
      <SettingsSection title={t("organisation.school")}>
        <TextField
          label={t("organisation.name")}
          value={form.name}
          onChange={(name) => update({ name })}
          maxLength={120}
          isRequired
          {...at("name")}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TimeZoneField
            label={t("organisation.zone")}
            value={form.timezone}
            onChange={(timezone) => update({ timezone })}
            none={t("organisation.zoneNone")}
            problem={problem("metadata.timezone")}
          />
          <Select
            label={t("organisation.language")}
            options={[
              { id: "", name: t("organisation.languageNone") },
              ...Object.entries(LANGUAGES).map(([id, name]) => ({ id, name })),
            ].map(({ id, name }) => ({ id: id || "none", name }))}
            value={form.locale || "none"}
            onChange={(id) => update({ locale: id === "none" ? "" : id })}
          />
        </div>
      </SettingsSection>
      <SettingsSection title={t("organisation.rules")} text={t("organisation.rulesText")}>
        <TextField
          label={t("organisation.scale")}
          hint={t("organisation.scaleHint")}
          value={form.gradeScale}
          onChange={(gradeScale) => update({ gradeScale })}
          maxLength={200}
          {...at("metadata.gradeScale")}
        />
        <RadioGroup
          label={t("organisation.late")}
          options={[
            { id: "ALLOW", name: t("organisation.lateAllow") },
            { id: "BLOCK", name: t("organisation.lateBlock") },
          ]}
          value={form.lateDefault}
          onChange={(lateDefault) => update({ lateDefault })}
        />
        <Checkbox
          isSelected={form.teachersAddSubjects}
          onChange={(teachersAddSubjects) => update({ teachersAddSubjects })}
        >
          {t("organisation.teachersAddSubjects")}
        </Checkbox>
        <Checkbox
          isSelected={form.studentsChangeNames}
          onChange={(studentsChangeNames) => update({ studentsChangeNames })}
        >
          {t("organisation.studentsChangeNames")}
        </Checkbox>
      </SettingsSection>
      {saving.isError && differences !== undefined ? (
        <EditConflict
          changes={differences.map(({ field, isTyped }) => ({
            field: t(LABELS[field]),
            current: valueText(initialForm(base)[field]),
            isTyped,
          }))}
        />
      ) : null}
      {saving.isError &&
      currentVersion(saving.error) === undefined &&
      paths.every((path) => problem(path) === undefined) ? (
        <p role="alert" className="text-bad">
          {errorText(saving.error)}
        </p>
      ) : null}
      <Button kind="main" type="submit" className="self-start" isPending={saving.isPending}>
        {t("app.save")}
      </Button>
    </Form>
  );
}
