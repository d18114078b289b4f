import { Suspense } from "react";
import { useTranslation } from "react-i18next";

import { useIsPhone } from "../work-room/screen";
import { fetchFile } from "../submissions/fetchFile";
import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { EmptyState } from "../../components/base/EmptyState";
import { Skeleton } from "../../components/base/Skeleton";
import { type TabPart, Tabs } from "../../components/Tabs";
import { WritingButtons } from "../writing/WritingButtons";
import type { ViewedDocument } from "./work";
import { lazyPart } from "../../components/lazyPart";

const DocumentEditor = lazyPart(async () => (await import("../work-room/DocumentEditor")).DocumentEditor);

interface Props {
  documents: readonly ViewedDocument[];
  /** Id of the open document, stored in the URL. */
  open: string | undefined;
  onOpen: (id: string) => void;
}

/** The documents of a group, shown one at a time. */
export function DocumentViewer({ documents, open, onOpen }: Props) {
  const { t } = useTranslation();
  const here = documents.find((paper) => paper.id === open) ?? documents[0];
  if (here === undefined) return <EmptyState>{t("work.noDocuments")}</EmptyState>;
  const tabOf = (viewed: ViewedDocument): TabPart<string> => {
    const count = viewed.document?.unreadComments ?? 0;
    return {
      id: viewed.id,
      name: count > 0 ? `${viewed.title} · ${t("room.newComments", { count })}` : viewed.title,
      content: () => <ViewedDocumentPanel key={viewed.id} viewed={viewed} />,
    };
  };
  return <Tabs label={t("room.place.documents")} open={here.id} onOpen={onOpen} parts={documents.map(tabOf)} />;
}

function ViewedDocumentPanel({ viewed }: { viewed: ViewedDocument }) {
  const { t } = useTranslation();
  const isPhone = useIsPhone();
  const { document, copy } = viewed;
  const path = document === undefined ? undefined : `/api/workrooms/documents/${document.id}`;
  const download = copy?.downloadUrl ?? `${path}/download`;
  const pdf = copy?.pdfUrl ?? `${path}/pdf`;
  const name = viewed.title.replace(/\.[^.]*$/, ".pdf");
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        {copy === undefined ? <Badge>{t("work.notHandedIn")}</Badge> : null}
        <a
          href={download}
          download
          aria-label={t("work.downloadOf", { title: viewed.title })}
          className="inline-flex min-h-11 items-center"
        >
          {t("work.download")}
        </a>
        {viewed.title.endsWith(".pdf") ? null : (
          <Button
            kind="quiet"
            className="px-0"
            aria-label={t("work.pdfOf", { title: viewed.title })}
            onPress={() => fetchFile(pdf, name)}
          >
            {t("work.pdf")}
          </Button>
        )}
        {document === undefined ? null : <WritingButtons document={document} title={viewed.title} copyId={copy?.id} />}
        <SkipViewerLink />
      </div>
      {document === undefined ? (
        <EmptyState>{t("work.deleted")}</EmptyState>
      ) : (
        <Suspense fallback={<Skeleton count={1} />}>
          {/* On wide screens the iframe has the height of its column. */}
          <div className="flex flex-col xl:h-[75vh]">
            <DocumentEditor key={document.id} document={document} isView isPhone={isPhone} />
          </div>
        </Suspense>
      )}
      <SkipViewerLink />
    </div>
  );
}

/** Skip link before and after the iframe of the editor, which captures Tab. */
function SkipViewerLink() {
  const { t } = useTranslation();
  return (
    <Button kind="quiet" className="self-start px-0" onPress={() => document.getElementById("work-panel")?.focus()}>
      {t("work.leave")}
    </Button>
  );
}
