import { useRouteContext } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import type { Document } from "../work-room/workRoom";
import { AuthorshipDialog, PlaybackDialog } from "./dialogs";

interface Props {
  document: Document;
  title: string;
  /** The copy of the submission that is shown. */
  copyId: string | undefined;
}

/** Who wrote what in a text document, and, if the school has enabled it, how it was written. */
export function WritingButtons({ document, title, copyId }: Props) {
  const { t } = useTranslation();
  const { person } = useRouteContext({ from: "/_school" });
  const [dialog, setDialog] = useState<"who" | "playback">();
  const close = () => setDialog(undefined);
  if (document.fileExtension !== "docx") return null;
  return (
    <>
      <Button kind="quiet" className="px-0" aria-label={t("writing.whoOf", { title })} onPress={() => setDialog("who")}>
        {t("writing.who")}
      </Button>
      {person.organization?.metadata?.features?.documentPlayback === true ? (
        <Button
          kind="quiet"
          className="px-0"
          aria-label={t("writing.playbackOf", { title })}
          onPress={() => setDialog("playback")}
        >
          {t("writing.playback")}
        </Button>
      ) : null}
      <Suspense fallback={null}>
        {dialog === "who" ? (
          <AuthorshipDialog documentId={document.id} title={title} copyId={copyId} onClose={close} />
        ) : null}
        {dialog === "playback" ? <PlaybackDialog documentId={document.id} title={title} onClose={close} /> : null}
      </Suspense>
    </>
  );
}
