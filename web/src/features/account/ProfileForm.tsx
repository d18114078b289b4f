import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { fullUserName, meQuery, type Me } from "../../auth/session";
import { toast } from "../../components/base/toast";
import { FormBody } from "../../forms/FormDialog";
import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { TimeZoneField } from "../../forms/TimeZoneField";
import { useForm } from "../../forms/useForm";
import { isLanguage, language, LANGUAGES } from "../../i18n";
import { SettingsSection } from "../../components/SettingsSection";
import { updateProfile, useChangeLanguage } from "./account";

const LANGUAGE_OPTIONS = Object.entries(LANGUAGES).map(([id, name]) => ({ id, name }));

/** Name, language and time zone. */
export function ProfileForm({ person }: { person: Me }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const changeLanguage = useChangeLanguage();
  const isNameFixed =
    person.member?.role === "student" && person.organization?.metadata?.features?.studentsChangeNames !== true;
  const form = useForm({
    initial: { name: person.name, timezone: person.timezone },
    send: ({ name, timezone }) => updateProfile(isNameFixed ? { timezone } : { name, timezone }),
    onSent: (saved) => {
      cache.setQueryData(meQuery.queryKey, saved);
      toast(t("app.saved"));
    },
  });
  const schoolZone = person.organization?.metadata?.timezone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <SettingsSection title={t("me.profile")}>
      <FormBody form={form} submitLabel={t("app.save")}>
        {isNameFixed ? (
          <div>
            <p>
              {t("me.name")}: <span className="font-medium">{person.name}</span>
            </p>
            <p className="text-soft text-sm">{t("me.nameFixed")}</p>
          </div>
        ) : (
          <TextField label={t("me.name")} autoComplete="name" maxLength={120} isRequired {...form.field("name")} />
        )}
        {person.username === null ? null : (
          <p>
            {t("me.username")}: <span className="font-medium wrap-anywhere">{fullUserName(person)}</span>
          </p>
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label={t("me.language")}
            options={LANGUAGE_OPTIONS}
            value={language()}
            onChange={(key) => isLanguage(key) && changeLanguage(key)}
          />
          <TimeZoneField
            label={t("me.zone")}
            none={t("me.zoneNone", { zone: schoolZone })}
            {...form.field("timezone")}
          />
        </div>
      </FormBody>
    </SettingsSection>
  );
}
