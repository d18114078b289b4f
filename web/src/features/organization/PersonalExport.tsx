import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useFormatBytes } from "../../i18n/bytes";
import { useErrorText } from "../../i18n/useErrorText";
import { Button } from "../../components/Button";
import { Time } from "../../components/base/Time";
import { personalExportQuery } from "./organization";

const STORAGE_KEY = "exports:";
const exportKey = (admin: string, user: string) => `${STORAGE_KEY}${admin}:${user}`;

/** Export of all data about a user: request, progress, download. The job id is stored in this browser. */
export function PersonalExport({ admin, userId }: { admin: string; userId: string }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const [job, setJob] = useState(() => localStorage.getItem(exportKey(admin, userId)));
  const asking = useMutation({
    mutationFn: () => unwrap(client.POST("/admin/gdpr/export", { body: { userId } })),
    onSuccess: ({ id }) => {
      localStorage.setItem(exportKey(admin, userId), id);
      setJob(id);
    },
  });
  return (
    <div className="flex flex-col items-start gap-3">
      {job === null ? null : <ExportJob id={job} />}
      {asking.isError ? (
        <p role="alert" className="text-bad">
          {errorText(asking.error)}
        </p>
      ) : null}
      <Button isPending={asking.isPending} onPress={() => asking.mutate()}>
        {job === null ? t("privacy.export") : t("privacy.exportAgain")}
      </Button>
    </div>
  );
}

function ExportJob({ id }: { id: string }) {
  const { t } = useTranslation();
  const bytes = useFormatBytes();
  const job = useQuery(personalExportQuery(id)).data;
  // A job whose archive has expired is treated as missing.
  if (!job) return null;
  const isMade = job.status === "DONE" && job.downloadUrl !== null;
  return (
    <output className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span>
        {t(`privacy.job.${job.status}`)} (<Time at={job.createdAt} />)
      </span>
      {isMade ? (
        <a href={job.downloadUrl ?? ""} download className="inline-flex min-h-11 items-center">
          {t("privacy.download", { size: bytes(job.size ?? 0) })}
        </a>
      ) : null}
      {isMade && job.expiresAt !== null ? (
        <span className="text-soft text-sm">
          {t("privacy.until")} <Time at={job.expiresAt} />
        </span>
      ) : null}
    </output>
  );
}
