import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { Schemas } from "../../api/client";
import { isSuper, type Me } from "../../auth/session";
import { SettingsSection } from "../../components/SettingsSection";

/** URLs of the school, and the DNS record that its own domain needs. */
export function SchoolAddresses({ school, person }: { school: Schemas["Organization"]; person: Me }) {
  const { t } = useTranslation();
  return (
    <SettingsSection
      title={t("organisation.addresses")}
      text={isSuper(person) ? undefined : t("organisation.addressesText")}
    >
      <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[auto_1fr]">
        <dt className="text-soft">{t("organisation.slug")}</dt>
        <dd className="font-mono">{school.slug}</dd>
        <dt className="text-soft">{t("organisation.domain")}</dt>
        <dd className="font-mono wrap-anywhere">{school.customDomain ?? t("organisation.domainNone")}</dd>
        {school.customDomain === null ? null : (
          <>
            <dt className="text-soft">{t("organisation.record")}</dt>
            <dd>
              <code className="bg-faint block rounded p-2 wrap-anywhere">
                {school.customDomain}. CNAME {location.hostname}.
              </code>
            </dd>
          </>
        )}
      </dl>
      {isSuper(person) ? (
        <Link to="/super/tenants" className="inline-flex min-h-11 items-center self-start">
          {t("school.all")}
        </Link>
      ) : null}
    </SettingsSection>
  );
}
