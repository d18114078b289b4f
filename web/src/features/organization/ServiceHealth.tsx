import { useQuery } from "@tanstack/react-query";
import { Check, CircleSlash, TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";

import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { healthQuery } from "./organization";
import { SettingsSection } from "../../components/SettingsSection";

const ICONS = {
  ok: [Check, "text-good"],
  down: [TriangleAlert, "text-bad"],
  unset: [CircleSlash, "text-warn"],
} as const;
const REQUIRED_CHECKS = ["database", "storage", "docserver"] as const;

/** Status of the components of the service, and the effect of each failure. */
export function ServiceHealth() {
  const { t } = useTranslation();
  const found = useQuery(healthQuery);
  return (
    <SettingsSection title={t("health.title")}>
      {found.isPending ? <Skeleton count={1} /> : null}
      {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.data ? (
        <>
          <ul className="divide-faint divide-y">
            {REQUIRED_CHECKS.map((name) => (
              <HealthRow key={name} name={name} state={found.data.ready.checks[name]} />
            ))}
          </ul>
          <p className="text-soft text-sm">{t("health.version", { version: found.data.version })}</p>
        </>
      ) : null}
    </SettingsSection>
  );
}

function HealthRow({ name, state }: { name: (typeof REQUIRED_CHECKS)[number]; state: string }) {
  const { t } = useTranslation();
  const known = state === "ok" || state === "unset" ? state : "down";
  const [Icon, tone] = ICONS[known];
  return (
    <li className="flex items-start gap-3 py-2">
      <Icon aria-hidden="true" className={`mt-0.5 size-5 shrink-0 ${tone}`} />
      <div>
        <p>
          <span className="font-medium">{t(`health.${name}`)}</span>: {t(`health.state.${known}`)}
        </p>
        {known === "ok" ? null : <p className="text-soft text-sm">{t(`health.without.${name}`)}</p>}
      </div>
    </li>
  );
}
