import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { PasswordHandout } from "../users/PasswordHandout";
import type { FullUser } from "../users/users";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Card } from "../../components/Card";
import { parseLine } from "./columns";
import { allUsersQuery, usersWithoutPassword } from "./users";
import type { Change, Report, Wizard } from "./wizard";

/** Creates first passwords for users added by an import. */
export function ImportPasswords({ wizard, report, change }: { wizard: Wizard; report: Report; change: Change }) {
  const { t } = useTranslation();
  const known = useQuery({ ...allUsersQuery, enabled: report.created > 0 });
  if (report.created === 0) return null;
  if (known.isError) return <ErrorMessage problem={known.error} onRetry={() => void known.refetch()} />;
  if (!known.data) return null;
  const people = usersWithoutPassword(wizard, report, known.data);
  const open = people.length - wizard.sheets.length;
  if (people.length === 0) return null;
  return (
    <Card className="flex flex-col gap-3">
      <h2>
        {open > 0 ? t("import.passwords", { count: open }) : t("import.passwordsReady", { count: people.length })}
      </h2>
      <p>{t(open > 0 ? "people.handout.text" : "people.handout.made")}</p>
      <PasswordHandout
        users={people}
        sheets={wizard.sheets}
        onSheets={(slips) => change({ sheets: slips })}
        of={(user) => homeroomOf(wizard, report, user)}
      />
    </Card>
  );
}

function homeroomOf(wizard: Wizard, report: Report, user: FullUser): string | undefined {
  const row = report.rows.find((one) => one.userId === user.id)?.row;
  const cells = row === undefined ? undefined : wizard.rows?.[row - 1];
  return cells ? parseLine(cells, wizard).homeroom || undefined : undefined;
}
