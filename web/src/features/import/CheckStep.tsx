import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { homeroomsQuery } from "../homerooms/homerooms";
import { Button } from "../../components/Button";
import { CheckboxList } from "../../forms/CheckboxList";
import { toast } from "../../components/base/toast";
import { Card } from "../../components/Card";
import { FileError, SendingProgress } from "./ColumnsStep";
import { listNewHomerooms } from "./columns";
import { ImportReportView } from "./ImportReport";
import { sendImport, type Change, type Wizard } from "./wizard";

/** Step 3: preview. Nothing has been changed so far. */
export function CheckStep({ wizard, change }: { wizard: Wizard; change: Change }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const report = wizard.check;
  if (!report) return null;
  const count = report.created + report.updated + report.invited;
  const startImport = async () => {
    const result = await sendImport(cache, false);
    if (result) toast(t("import.finished", { count: result.created + result.updated + result.invited }));
  };
  return (
    <div className="flex flex-col gap-4">
      {wizard.sending ? null : (
        <>
          <p>{t(count === 0 ? "import.nothingNew" : "import.nothingYet")}</p>
          <NewHomerooms wizard={wizard} change={change} />
        </>
      )}
      <FileError problem={wizard.problem} />
      {wizard.sending ? (
        <>
          <SendingProgress wizard={wizard} />
          <p className="text-soft">{t("import.mayLeave")}</p>
        </>
      ) : null}
      <p className="flex flex-wrap gap-2">
        <Button isDisabled={wizard.sending !== null} onPress={() => change({ step: "columns", problem: null })}>
          {t("app.back")}
        </Button>
        <Button
          kind="main"
          isDisabled={count === 0}
          isPending={wizard.sending !== null}
          onPress={() => void startImport()}
        >
          {t("import.go", { count })}
        </Button>
      </p>
      <ImportReportView key={report.rows.length} wizard={wizard} report={report} />
    </div>
  );
}

/** New homerooms named by the table: wanted, or typing errors. */
function NewHomerooms({ wizard, change }: { wizard: Wizard; change: Change }) {
  const { t } = useTranslation();
  const { data: known } = useQuery(homeroomsQuery);
  if (!known || wizard.rows === null) return null;
  const rooms = listNewHomerooms(
    wizard.rows,
    wizard.columns,
    known.flatMap((room) => [room.name, room.id]),
  );
  if (rooms.length === 0) return null;
  const names = rooms.map((room) => room.name);
  return (
    <Card>
      <h2 aria-hidden="true">{t("import.newRooms", { count: rooms.length })}</h2>
      <p className="text-soft">{t("import.newRoomsText")}</p>
      <CheckboxList
        label={t("import.newRooms", { count: rooms.length })}
        isBare
        options={rooms.map(({ name, count }) => ({
          id: name,
          name: (
            <>
              {name} <span className="text-soft text-sm">{t("import.forPeople", { count })}</span>
            </>
          ),
        }))}
        value={names.filter((name) => !wizard.excludedHomerooms.includes(name))}
        onChange={(wanted) => change({ excludedHomerooms: names.filter((name) => !wanted.includes(name)) })}
      />
    </Card>
  );
}
