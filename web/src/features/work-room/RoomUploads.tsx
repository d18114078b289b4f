import { X } from "lucide-react";
import { ProgressBar } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { useErrorText } from "../../i18n/useErrorText";
import { Button } from "../../components/Button";
import type { RoomUpload } from "./useUploads";

/** Uploads in progress or failed. */
export function RoomUploads({ uploads }: { uploads: readonly RoomUpload[] }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  if (uploads.length === 0) return null;
  return (
    <ul className="flex flex-col gap-2">
      {uploads.map((one) => (
        <li key={one.id} className="border-faint flex flex-col gap-1 rounded-lg border p-2">
          <span className="flex items-center gap-2">
            <span className="min-w-0 grow break-words">{one.name}</span>
            <Button
              kind="quiet"
              className="px-0"
              aria-label={t("room.send.stop", { name: one.name })}
              onPress={one.cancel}
            >
              <X aria-hidden="true" className="size-5" />
            </Button>
          </span>
          {one.problem === undefined ? (
            <ProgressBar
              aria-label={t("room.send.going", { name: one.name })}
              value={one.share * 100}
              className="bg-faint h-2 overflow-hidden rounded"
            >
              {({ percentage }) => <div className="bg-accent h-full" style={{ width: `${percentage ?? 0}%` }} />}
            </ProgressBar>
          ) : (
            <span role="alert" className="text-bad flex flex-wrap items-center gap-2 text-sm">
              <span className="grow">{errorText(one.problem)}</span>
              <Button onPress={one.retry}>{t("problem.again")}</Button>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
