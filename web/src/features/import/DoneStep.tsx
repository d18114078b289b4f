import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { MissingUsers } from "./MissingUsers";
import { ImportPasswords } from "./ImportPasswords";
import { ImportReportView } from "./ImportReport";
import type { Change, Wizard } from "./wizard";

/** Step 4: result, first passwords, and users missing from the file. */
export function DoneStep({ wizard, change, restart }: { wizard: Wizard; change: Change; restart: () => void }) {
  const { t } = useTranslation();
  const report = wizard.result;
  if (!report) return null;
  return (
    <div className="flex flex-col gap-4">
      {report.failed > 0 ? (
        <Card className="border-warn">{t("import.someFailed", { count: report.failed })}</Card>
      ) : null}
      <ImportPasswords wizard={wizard} report={report} change={change} />
      <MissingUsers wizard={wizard} report={report} />
      <h2>{t("import.reportTitle")}</h2>
      <ImportReportView wizard={wizard} report={report} />
      <p>
        <Button onPress={restart}>{t("import.another")}</Button>
      </p>
    </div>
  );
}
