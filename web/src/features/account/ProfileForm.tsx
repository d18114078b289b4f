import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { fieldError, useErrorText } from "../../i18n/useErrorText";
import { meQuery, type Me } from "../../auth/session";
import { isLanguage, LANGUAGES } from "../../i18n";
import { SettingsSection } from "../organization/SettingsSection";
import { TimeZoneField } from "../../forms/TimeZoneField";
import { Button } from "../../components/Button";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { toast } from "../../components/base/toast";
import { updateProfile, useChangeLanguage } from "./account";

const LANGUAGE_OPTIONS = Object.entries(LANGUAGES).map(([id, name]) => ({ id, name }));

/** Name, language and time zone. */
export function ProfileForm({ person }: { person: Me }) {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const [name, setName] = useState(person.name);
  const [zone, setZone] = useState(person.timezone);
  const speak = useChangeLanguage();
  const isNameFixed =
    person.member?.role === "student" && person.organization?.metadata?.features?.studentsChangeNames !== true;
  const saving = useMutation({
    mutationFn: () => updateProfile(isNameFixed ? { timezone: zone } : { name, timezone: zone }),
    onSuccess: (saved) => {
      cache.setQueryData(meQuery.queryKey, saved);
      toast(t("app.saved"));
    },
  });
  const nameProblem = fieldError(saving.error, "name");
  const zoneProblem = fieldError(saving.error, "timezone");
  const schoolZone = person.organization?.metadata?.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <SettingsSection title={t("me.profile")}>
      <Form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        {isNameFixed ? (
          <div>
            <p>
              {t("me.name")}: <span className="font-medium">{person.name}</span>
            </p>
            <p className="text-soft text-sm">{t("me.nameFixed")}</p>
          </div>
        ) : (
          <TextField
            label={t("me.name")}
            value={name}
            onChange={setName}
            autoComplete="name"
            maxLength={120}
            isRequired
            {...(nameProblem ? { problem: nameProblem } : {})}
          />
        )}
        {person.username === null ? null : (
          <p>
            {t("me.username")}: <span className="font-medium">{person.username}</span>
          </p>
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label={t("me.language")}
            options={LANGUAGE_OPTIONS}
            value={i18n.language}
            onChange={(key) => isLanguage(key) && speak(key)}
          />
          <TimeZoneField
            label={t("me.zone")}
            value={zone}
            onChange={setZone}
            none={t("me.zoneNone", { zone: schoolZone })}
            problem={zoneProblem}
          />
        </div>
        {saving.isError && !nameProblem && !zoneProblem ? (
          <p role="alert" className="text-bad">
            {errorText(saving.error)}
          </p>
        ) : null}
        <Button kind="main" type="submit" className="self-start" isPending={saving.isPending}>
          {t("app.save")}
        </Button>
      </Form>
    </SettingsSection>
  );
}
