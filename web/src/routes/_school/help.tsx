import { createFileRoute, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { ShortcutList } from "../../features/shortcuts/ShortcutList";
import { ShortcutSwitch } from "../../features/shortcuts/ShortcutSwitch";
import { isAdmin, isStaff } from "../../auth/session";
import { PageHeading } from "../../components/PageHeading";
import { Card } from "../../components/Card";

export const Route = createFileRoute("/_school/help")({ component: Help });

/** Keyboard shortcuts and contacts. */
function Help() {
  const { t } = useTranslation();
  const { person } = Route.useRouteContext();
  const who = isAdmin(person) ? "admin" : isStaff(person) ? "teacher" : "student";
  return (
    <div className="flex flex-col gap-6">
      <PageHeading title={t("manual.title")}>{t("manual.title")}</PageHeading>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card className="flex flex-col gap-3">
          <h2>{t("manual.whom")}</h2>
          <p>{t(`manual.contact.${who}`)}</p>
          {who === "admin" ? null : (
            <Link to="/messages" className="inline-flex min-h-11 items-center self-start">
              {t("manual.write")}
            </Link>
          )}
          <h2>{t("manual.known")}</h2>
          <ul className="flex list-disc flex-col gap-2 ps-5">
            {(isStaff(person)
              ? (["saved", "undo", "board", "offline"] as const)
              : (["saved", "call", "chat", "offline"] as const)
            ).map((fact) => (
              <li key={fact}>{t(`manual.fact.${fact}`)}</li>
            ))}
          </ul>
        </Card>
        <Card className="flex flex-col gap-3">
          <h2>{t("keys.title")}</h2>
          <ShortcutSwitch />
          <ShortcutList
            screens={isStaff(person) ? ["everywhere", "board", "work", "room"] : ["everywhere", "room"]}
            isStaff={isStaff(person)}
          />
        </Card>
      </div>
    </div>
  );
}
