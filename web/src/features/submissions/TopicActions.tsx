import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { Button } from "../../components/Button";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { fetchFile } from "./fetchFile";
import { ImportGradesDialog } from "./ImportGradesDialog";
import { DownloadArchiveDialog } from "./DownloadArchiveDialog";
import { RecordWorkDialog } from "./RecordWorkDialog";

interface Props {
  topicId: string;
  title: string;
  /** Number of draft grades; undefined while loading. */
  draftCount: number | undefined;
  /** Number of groups that have submitted. */
  submitted: number;
  /** Number of groups without a submission. */
  missing: number;
}

/** Actions on all works of a topic: return the grades, download everything, grade in a spreadsheet. */
export function TopicActions({ topicId, title, draftCount, submitted, missing }: Props) {
  const { t, i18n } = useTranslation();
  const cache = useQueryClient();
  const [open, setOpen] = useState<"publish" | "pack" | "import" | "record">();
  const close = () => setOpen(undefined);
  const publish = useMutation({
    mutationFn: () =>
      unwrap(client.POST("/feedback/assignments/{id}/publish-grades", { params: { path: { id: topicId } }, body: {} })),
    onSuccess: ({ published, incomplete }) =>
      toast(
        incomplete === 0
          ? t("submissions.published", { count: published })
          : `${t("submissions.published", { count: published })}. ${t("submissions.incomplete", { count: incomplete })}`,
      ),
    onSettled: () => cache.invalidateQueries(),
  });
  // Spreadsheets in locales with a decimal comma expect semicolons as separators.
  const delimiter = new Intl.NumberFormat(i18n.language).format(0.5).includes(",") ? ";" : ",";
  const csv = () =>
    fetchFile(`/api/assignments/${topicId}/grades.csv?delimiter=${encodeURIComponent(delimiter)}`, `${title}.csv`);
  return (
    <div className="mt-auto flex flex-col gap-2">
      <p className="flex flex-wrap gap-2">
        {draftCount === undefined || draftCount > 0 ? (
          <Button kind="main" isPending={publish.isPending} onPress={() => setOpen("publish")}>
            {draftCount === undefined ? t("submissions.publishAll") : t("submissions.publish", { count: draftCount })}
          </Button>
        ) : null}
        <Button onPress={() => setOpen("pack")} aria-label={t("submissions.packOf", { title })}>
          {t("submissions.pack")}
        </Button>
        {missing > 0 ? (
          <Button onPress={() => setOpen("record")} aria-haspopup="dialog">
            {t("work.record")}
          </Button>
        ) : null}
        <OverflowMenu
          label={t("submissions.gradesOf", { title })}
          actions={[
            { id: "csv", name: t("submissions.csv"), onAction: csv },
            {
              id: "import",
              name: t("submissions.import"),
              isDisabled: submitted === 0,
              onAction: () => setOpen("import"),
            },
          ]}
        >
          {t("submissions.grades")}
        </OverflowMenu>
      </p>
      {publish.isError ? <ErrorMessage problem={publish.error} /> : null}
      {open === "publish" ? (
        <ConfirmDialog
          title={t("submissions.publishTitle", { title })}
          text={t("submissions.publishText")}
          confirmLabel={
            draftCount === undefined ? t("submissions.publishAll") : t("submissions.publishYes", { count: draftCount })
          }
          onConfirm={() => publish.mutate()}
          onClose={close}
        />
      ) : null}
      {open === "pack" ? (
        <DownloadArchiveDialog topicId={topicId} title={title} hasSubmissions={submitted > 0} onClose={close} />
      ) : null}
      {open === "record" ? <RecordWorkDialog topicId={topicId} title={title} onClose={close} /> : null}
      {open === "import" ? <ImportGradesDialog topicId={topicId} title={title} onClose={close} /> : null}
    </div>
  );
}
