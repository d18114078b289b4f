import { useQuery } from "@tanstack/react-query";
import { Check, CircleSlash, TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Problems } from "../ui/Problems";
import { Shape } from "../ui/Shape";
import { health } from "./admin";
import { Part } from "./Part";

const SIGNS = { ok: [Check, "text-good"], down: [TriangleAlert, "text-bad"], unset: [CircleSlash, "text-warn"] } as const;
const NEEDED = ["database", "storage", "docserver"] as const;

/** Whether the service has what it needs, and what does not work without it. */
export function Health() {
  const { t } = useTranslation();
  const found = useQuery(health);
  return (
    <Part title={t("health.title")}>
      {found.isPending ? <Shape count={1} /> : null}
      {found.isError ? <Problems problem={found.error} again={() => void found.refetch()} /> : null}
      {found.data ? (
        <>
          <ul className="divide-faint divide-y">
            {NEEDED.map((name) => (
              <Line key={name} name={name} state={found.data.ready.checks[name]} />
            ))}
          </ul>
          <p className="text-soft text-sm">{t("health.version", { version: found.data.version })}</p>
        </>
      ) : null}
    </Part>
  );
}

function Line({ name, state }: { name: (typeof NEEDED)[number]; state: string }) {
  const { t } = useTranslation();
  const known = state === "ok" || state === "unset" ? state : "down";
  const [Sign, tone] = SIGNS[known];
  return (
    <li className="flex items-start gap-3 py-2">
      <Sign aria-hidden="true" className={`mt-0.5 size-5 shrink-0 ${tone}`} />
      <div>
        <p>
          <span className="font-medium">{t(`health.${name}`)}</span>: {t(`health.state.${known}`)}
        </p>
        {known === "ok" ? null : <p className="text-soft text-sm">{t(`health.without.${name}`)}</p>}
      </div>
    </li>
  );
}
