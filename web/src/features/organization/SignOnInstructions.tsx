import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Card } from "../../components/Card";
import { AdminPage } from "./AdminPage";
import { PRESETS, type SignOnPreset } from "./signOnPresets";
import { signOnQuery } from "./useSignOn";

/** How to set up sign-on with a product: what to enter where, which addresses to register, how to test, how to link people. */
export function SignOnInstructions({ preset }: { preset: SignOnPreset }) {
  const { t } = useTranslation();
  const { data: providers = [] } = useQuery(signOnQuery);
  const product = t(`signOn.presets.${preset}`);
  const added = providers.filter((provider) => provider.preset === preset);
  return (
    <AdminPage title={t("signOnHelp.title", { product })}>
      <div className="flex max-w-3xl flex-col gap-4">
        <Link to="/admin/organisation" className="inline-flex min-h-11 items-center self-start underline">
          {t("signOnHelp.back")}
        </Link>
        <Section title={t("signOnHelp.product", { product })}>
          <ol className="flex list-decimal flex-col gap-2 ps-5">
            {t(`signOnHelp.steps.${preset}`)
              .split("\n")
              .map((step) => (
                <li key={step} className="wrap-anywhere">
                  {step}
                </li>
              ))}
          </ol>
        </Section>
        <Section title={t("signOnHelp.here")}>
          <p>{t("signOnHelp.hereText")}</p>
          <Values
            entries={[
              [t("signOnHelp.labels.issuer"), t(`signOnHelp.issuer.${preset}`)],
              [t("signOnHelp.labels.client"), t("signOnHelp.labels.clientText")],
              [t("signOnHelp.labels.linking"), t(`signOnHelp.linking.${preset}`)],
            ]}
          />
        </Section>
        <Section title={t("signOnHelp.addresses", { product })}>
          <p>{t("signOnHelp.addressesText", { product })}</p>
          {added.length === 0 ? <p className="text-soft">{t("signOnHelp.addressesNone")}</p> : null}
          {added.map(({ id, name, redirectUri, backchannelLogoutUri }) => (
            <div key={id} className="flex flex-col gap-1">
              <h3 className="wrap-anywhere">{name}</h3>
              <Values
                isCode
                entries={[
                  [t("signOnHelp.redirectUri"), redirectUri],
                  [t("signOnHelp.signedOut"), new URL("/login", redirectUri).href],
                  [t("signOnHelp.logoutUri"), backchannelLogoutUri],
                ]}
              />
            </div>
          ))}
          <p>{t(`signOnHelp.logout.${preset}`)}</p>
        </Section>
        <Section title={t("signOnHelp.test")}>
          <p>{t("signOnHelp.testText")}</p>
        </Section>
        <Section title={t("signOnHelp.people")}>
          <p>{t(`signOnHelp.linking.${preset}`)}</p>
          <p>{t("signOnHelp.byHand", { product })}</p>
        </Section>
        <Section title={t("signOnHelp.others")}>
          <ul className="flex flex-wrap gap-x-4">
            {PRESETS.filter((other) => other !== preset).map((other) => (
              <li key={other}>
                <Link
                  to="/admin/sign-on/$preset"
                  params={{ preset: other }}
                  className="inline-flex min-h-11 items-center underline"
                >
                  {t(`signOn.presets.${other}`)}
                </Link>
              </li>
            ))}
          </ul>
        </Section>
      </div>
    </AdminPage>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Card className="flex flex-col gap-3 sm:p-5">
        <h2>{title}</h2>
        {children}
      </Card>
    </section>
  );
}

function Values({ entries, isCode = false }: { entries: [label: string, value: string][]; isCode?: boolean }) {
  return (
    <dl className="bg-faint grid gap-x-4 gap-y-1 rounded p-2 text-sm sm:grid-cols-[auto_1fr]">
      {entries.map(([label, value]) => (
        <div key={label} className="contents">
          <dt className="text-soft">{label}</dt>
          <dd className={isCode ? "font-mono wrap-anywhere" : "wrap-anywhere"}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
