import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { translateIfKnown } from "../../i18n";
import type { Schemas } from "../../api/client";
import { upload } from "../../api/upload";
import { Button } from "../../components/Button";
import { FileDropZone } from "../../forms/FileDropZone";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";

type GradeImportReport = Schemas["GradeImportReport"];

/** Imports grades from a CSV file after a dry run. Does not return grades to groups. */
export function ImportGradesDialog({
  topicId,
  title,
  onClose,
}: {
  topicId: string;
  title: string;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const [file, setFile] = useState<File>();
  const send = (table: File, isDryRun: boolean): Promise<GradeImportReport> => {
    const form = new FormData();
    form.append("file", table);
    return upload<GradeImportReport>(`/assignments/${topicId}/grades/import${isDryRun ? "?dryRun=1" : ""}`, form).done;
  };
  const previewing = useMutation({ mutationFn: (table: File) => send(table, true) });
  const importing = useMutation({
    mutationFn: (table: File) => send(table, false),
    onSuccess: (report) => {
      toast(t("submissions.imported", { count: report.created + report.updated }));
      onClose();
    },
    onSettled: () => cache.invalidateQueries(),
  });
  const choose = (table: File | undefined) => {
    if (table === undefined) return;
    setFile(table);
    importing.reset();
    previewing.mutate(table);
  };
  const changes = previewing.data === undefined ? 0 : previewing.data.created + previewing.data.updated;
  return (
    <Dialog
      title={t("submissions.importTitle", { title })}
      isWide
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
    >
      {(close) => (
        <>
          <p>{t("submissions.importText")}</p>
          <FileDropZone
            label={file === undefined ? t("submissions.choose") : t("submissions.chooseOther")}
            hint={file?.name ?? t("submissions.chooseHint")}
            accept={[".csv", "text/csv"]}
            isPending={previewing.isPending}
            onFiles={([table]) => choose(table)}
          />
          <output>{previewing.data ? <ImportPreview report={previewing.data} /> : null}</output>
          {previewing.isError ? <ErrorMessage problem={previewing.error} /> : null}
          {importing.isError ? <ErrorMessage problem={importing.error} /> : null}
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button
              kind="main"
              isDisabled={changes === 0 || file === undefined}
              isPending={importing.isPending}
              onPress={() => file && importing.mutate(file)}
            >
              {changes === 0 ? t("submissions.importNone") : t("submissions.importGo", { count: changes })}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}

const KINDS = ["created", "updated", "skipped", "failed"] as const;

/** Preview: counts, and each invalid row with its reason. */
function ImportPreview({ report }: { report: GradeImportReport }) {
  const { t } = useTranslation();
  const refused = report.rows.filter((row) => row.status === "failed");
  return (
    <span className="flex flex-col gap-3">
      <span className="flex flex-wrap gap-x-4 gap-y-1">
        {KINDS.filter((kind) => report[kind] > 0).map((kind) => (
          <span key={kind} className={kind === "failed" ? "text-bad font-medium" : ""}>
            {t(`submissions.rows.${kind}`, { count: report[kind] })}
          </span>
        ))}
        {report.rows.length === 0 ? t("submissions.noRows") : null}
      </span>
      {refused.slice(0, 50).map((row) => (
        <span key={row.row} className="border-bad block border-s-4 ps-3">
          <strong>{t("submissions.row", { number: row.row })}</strong>
          {row.errors.map((one) => (
            <span key={`${one.column}-${one.code}`} className="block text-sm break-words">
              {[one.column, translateIfKnown(`submissions.refused.${one.code}`) ?? one.message]
                .filter(Boolean)
                .join(": ")}
            </span>
          ))}
        </span>
      ))}
      {refused.length > 50 ? <span>{t("submissions.moreRows", { count: refused.length - 50 })}</span> : null}
    </span>
  );
}
