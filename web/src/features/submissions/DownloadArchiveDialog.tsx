import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { RadioGroup } from "../../forms/RadioGroup";
import { Dialog } from "../../components/Dialog";
import { fetchFile } from "./fetchFile";

const FORMATS = ["original", "pdf", "both"] as const;
const SOURCES = ["submission", "current"] as const;

/** Selects the format of the archive of all works; the download continues while other screens are open. */
export function DownloadArchiveDialog({
  topicId,
  title,
  hasSubmissions,
  onClose,
}: {
  topicId: string;
  title: string;
  hasSubmissions: boolean;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const [format, setFormat] = useState<(typeof FORMATS)[number]>("original");
  const [source, setSource] = useState<(typeof SOURCES)[number]>(hasSubmissions ? "submission" : "current");
  const download = () => {
    fetchFile(`/api/assignments/${topicId}/export.zip?format=${format}&source=${source}`, `${title}.zip`);
    onClose();
  };
  return (
    <Dialog title={t("submissions.packTitle", { title })} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <RadioGroup
            label={t("submissions.source")}
            options={SOURCES.map((id) => ({ id, name: t(`submissions.sources.${id}`) }))}
            value={source}
            onChange={setSource}
          />
          <RadioGroup
            label={t("submissions.format")}
            options={FORMATS.map((id) => ({ id, name: t(`submissions.formats.${id}`) }))}
            value={format}
            onChange={setFormat}
          />
          <p className="text-soft text-sm">
            {format === "original" ? t("submissions.packHint") : t("submissions.pdfHint")}
          </p>
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={close}>{t("ask.cancel")}</Button>
            <Button kind="main" onPress={download}>
              {t("submissions.packGo")}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
