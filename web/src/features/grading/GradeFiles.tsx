import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, Problem, type Schemas, unwrap } from "../../api/client";
import { invalidate } from "../../api/queryKeys";
import { upload } from "../../api/upload";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/ErrorMessage";
import { FileButton } from "../../forms/FileButton";
import { useErrorText } from "../../i18n/useErrorText";

type GradeFile = Schemas["GradeFile"];

const FILES_MAX = 5;

/** Files of a grade, to download. */
export function GradeFileLinks({ files }: { files: readonly GradeFile[] }) {
  const { t } = useTranslation();
  if (files.length === 0) return null;
  return (
    <ul aria-label={t("rubrics.files")} className="flex flex-col">
      {files.map((file) => (
        <li key={file.id}>
          <FileLink file={file} />
        </li>
      ))}
    </ul>
  );
}

function FileLink({ file }: { file: GradeFile }) {
  return (
    <a href={file.url} download className="inline-flex min-h-11 min-w-0 items-center gap-2">
      <Download aria-hidden="true" className="size-4 shrink-0" />
      <span className="min-w-0 wrap-anywhere">{file.fileName}</span>
    </a>
  );
}

/** The files that a teacher gives back with a grade: add and remove them. */
export function GradeFiles({ submissionId, files }: { submissionId: string; files: readonly GradeFile[] }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const refresh = () => invalidate(cache, "assignments", "submissions");
  const send = async (chosen: readonly File[]) => {
    setSending(true);
    setProblem(undefined);
    try {
      for (const file of chosen.slice(0, FILES_MAX)) {
        const form = new FormData();
        form.append("file", file);
        // oxlint-disable-next-line no-await-in-loop -- sequential: parallel uploads would share a slow connection
        await upload(`/feedback/submissions/${submissionId}/files`, form, () => undefined).done;
      }
    } catch (refused) {
      if (!(refused instanceof Problem && refused.code === "CANCELLED")) setProblem(refused);
    } finally {
      setSending(false);
      await refresh();
    }
  };
  const remove = useMutation({
    mutationFn: (fileId: string) =>
      unwrap(
        client.DELETE("/feedback/submissions/{id}/files/{fileId}", {
          params: { path: { id: submissionId, fileId }, query: {} },
        }),
      ),
    onSuccess: () => void toast(t("rubrics.fileRemoved")),
    onError: (failed) => void toast(errorText(failed)),
    onSettled: refresh,
  });
  return (
    <section aria-label={t("rubrics.files")} className="flex flex-col gap-1">
      {files.length === 0 ? null : (
        <ul className="flex flex-col">
          {files.map((file) => (
            <li key={file.id} className="flex items-center gap-2">
              <span className="min-w-0 grow">
                <FileLink file={file} />
              </span>
              <Button
                kind="quiet"
                className="px-0"
                aria-label={t("rubrics.removeFile", { name: file.fileName })}
                isPending={remove.isPending && remove.variables === file.id}
                onPress={() => remove.mutate(file.id)}
              >
                <Trash2 aria-hidden="true" className="size-4.5" />
              </Button>
            </li>
          ))}
        </ul>
      )}
      {problem === undefined ? null : <ErrorMessage problem={problem} />}
      {files.length < FILES_MAX ? (
        <p className="-mx-2">
          <FileButton kind="quiet" isMany isPending={isSending} onFiles={(chosen) => void send(chosen)}>
            {t("rubrics.addFile")}
          </FileButton>
        </p>
      ) : null}
    </section>
  );
}
