import { X } from "lucide-react";
import { useTranslation } from "react-i18next";

import { useErrorText } from "../../i18n/useErrorText";
import { Button } from "../../components/Button";
import type { AttachmentUpload } from "./useAttachmentUploads";

/** Uploads with progress, cancel button and error. */
export function TopicUploads({
  uploads,
  onCancel,
}: {
  uploads: readonly AttachmentUpload[];
  onCancel: (key: number) => void;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  if (uploads.length === 0) return null;
  return (
    <ul className="flex flex-col gap-2" aria-label={t("topic.onTheWay")}>
      {uploads.map((sending) => (
        <li
          key={sending.key}
          className={`flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border ps-3 ${sending.problem === undefined ? "border-faint" : "border-bad"}`}
        >
          <span className="min-w-0 grow basis-40 break-words">{sending.name}</span>
          {sending.problem === undefined ? (
            <progress
              aria-label={t("topic.progress", { name: sending.name })}
              max={1}
              value={sending.share}
              className="accent-accent w-32 max-w-full"
            />
          ) : (
            <span role="alert" className="text-bad text-sm">
              {errorText(sending.problem)}
            </span>
          )}
          <Button
            kind="quiet"
            className="px-0"
            onPress={() => onCancel(sending.key)}
            aria-label={
              sending.problem === undefined
                ? t("topic.cancelFile", { name: sending.name })
                : t("topic.forgetFile", { name: sending.name })
            }
          >
            <X aria-hidden="true" className="size-5" />
          </Button>
        </li>
      ))}
    </ul>
  );
}
