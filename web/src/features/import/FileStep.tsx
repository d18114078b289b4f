import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { useErrorText } from "../../i18n/useErrorText";
import { Button } from "../../components/Button";
import { FileDropZone } from "../../forms/FileDropZone";
import { Card } from "../../components/Card";
import { downloadTable } from "./csv";
import { readFile, type Change } from "./wizard";

/** Step 1: selects the file. */
export function FileStep({ change }: { change: Change }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const reading = useMutation({ mutationFn: readFile, onSuccess: change });
  const example = () =>
    downloadTable("people.csv", [
      ["email", "firstName", "lastName", "role", "externalId", "homeroom", "classes"],
      ["ada@school.example", "Ada", "Turner", "teacher", "T-1", "", "7b"],
      ["ana@school.example", "Ana", "Lima", "student", "S-1", "7b", "7b;Chess"],
      ["", "Bo", "Meer", "student", "S-2", "7b", "7b"],
    ]);
  return (
    <div className="flex flex-col gap-4">
      <FileDropZone
        label={t("import.choose")}
        hint={t("import.hint")}
        accept={[".csv", ".txt", ".tsv", ".zip"]}
        isPending={reading.isPending}
        onFiles={([file]) => file && reading.mutate(file)}
      />
      {reading.isError ? (
        <p role="alert" className="text-bad">
          {errorText(reading.error)}
        </p>
      ) : null}
      <div className="grid gap-3 md:grid-cols-2">
        <Card className="flex flex-col items-start gap-2">
          <h2>{t("import.tableTitle")}</h2>
          <p>{t("import.tableText")}</p>
          <Button onPress={example}>{t("import.example")}</Button>
        </Card>
        <Card className="flex flex-col gap-2">
          <h2>{t("import.rulesTitle")}</h2>
          <ul className="list-disc ps-5">
            {(["first", "nobody", "passwords", "emails", "often"] as const).map((rule) => (
              <li key={rule}>{t(`import.rules.${rule}`)}</li>
            ))}
          </ul>
        </Card>
      </div>
    </div>
  );
}
