import { X } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { useErrorText } from "../../i18n/useErrorText";
import { dismissDownload, dismissAllDownloads, type Download, useDownloads } from "./downloadQueue";

/** Downloads in progress, shown on every screen. */
export function DownloadList() {
  const { t } = useTranslation();
  const all = useDownloads();
  useEffect(() => dismissAllDownloads, []);
  if (all.length === 0) return null;
  return (
    <section
      aria-label={t("downloads.title")}
      className="sticky bottom-0 z-10 mx-auto w-full max-w-6xl px-2 pb-2 sm:px-4"
    >
      <ul className="bg-sheet border-line divide-faint ms-auto flex max-h-[40vh] w-full max-w-md flex-col divide-y overflow-y-auto rounded-xl border shadow-lg">
        {all.map((one) => (
          <li key={one.id} className="flex items-start gap-2 p-3">
            <DownloadItem download={one} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function DownloadItem({ download }: { download: Download }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const { name, state, progress, missing, href } = download;
  return (
    <>
      <div className="flex min-w-0 grow flex-col gap-1">
        <strong className="break-words">{name}</strong>
        <output className="text-sm">
          {state === "running" ? <DownloadProgress download={download} /> : null}
          {state === "ready" && missing.length === 0 ? t("downloads.ready") : null}
          {state === "ready" && missing.length > 0 ? (
            <span className="text-warn font-medium">{t("downloads.partial", { count: missing.length })}</span>
          ) : null}
          {state === "failed" ? <span className="text-bad">{errorText(download.problem)}</span> : null}
        </output>
        {state === "running" && progress.total !== undefined ? (
          <progress className="h-2 w-full" aria-label={name} max={progress.total} value={progress.files ?? 0} />
        ) : null}
        {missing.length > 0 ? (
          <details className="text-sm">
            <summary className="flex min-h-11 cursor-pointer items-center">{t("downloads.which")}</summary>
            <ul className="flex flex-col gap-1 break-words">
              {missing.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          </details>
        ) : null}
        {href === undefined ? null : (
          <a href={href} download={name} className="inline-flex min-h-11 items-center self-start">
            {t("downloads.save")}
          </a>
        )}
        {state === "failed" ? (
          <Button className="self-start" onPress={download.again}>
            {t("problem.again")}
          </Button>
        ) : null}
      </div>
      <Button
        kind="quiet"
        className="px-0"
        aria-label={state === "running" ? t("downloads.stop", { name }) : t("downloads.close", { name })}
        onPress={() => dismissDownload(download.id)}
      >
        <X aria-hidden="true" className="size-5" />
      </Button>
    </>
  );
}

function DownloadProgress({ download: { progress } }: { download: Download }) {
  const { t, i18n } = useTranslation();
  const size = new Intl.NumberFormat(i18n.language, {
    style: "unit",
    unit: "megabyte",
    maximumFractionDigits: 1,
  }).format(progress.bytes / 1_000_000);
  if (progress.files === undefined) return <>{progress.bytes === 0 ? t("downloads.waiting") : size}</>;
  return (
    <>
      {progress.total === undefined
        ? t("downloads.files", { count: progress.files, size })
        : t("downloads.filesOf", { files: progress.files, total: progress.total, size })}
    </>
  );
}
