import { Suspense } from "react";
import { useTranslation } from "react-i18next";

import { useIsPhone } from "../features/work-room/screen";
import { fetchFile } from "../features/submissions/fetchFile";
import { Button } from "../ui/Button";
import { Chip } from "../ui/Chip";
import { Empty } from "../ui/Empty";
import { Shape } from "../ui/Shape";
import { type Part, Tabs } from "../ui/Tabs";
import type { Paper } from "./work";
import { part } from "../ui/part";

const Editor = part(async () => (await import("../features/work-room/DocumentEditor")).DocumentEditor);

interface Props {
  papers: readonly Paper[];
  /** Which one is open: the address knows. */
  open: string | undefined;
  onOpen: (id: string) => void;
}

/** The documents of a group, one at a time, to be looked at. */
export function Papers({ papers, open, onOpen }: Props) {
  const { t } = useTranslation();
  const here = papers.find((paper) => paper.id === open) ?? papers[0];
  if (here === undefined) return <Empty>{t("work.noDocuments")}</Empty>;
  return (
    <Tabs
      label={t("room.place.documents")}
      open={here.id}
      onOpen={onOpen}
      parts={papers.map(partOf)}
    />
  );
}

const partOf = (paper: Paper): Part<string> => ({ id: paper.id, name: paper.title, content: () => <Sight key={paper.id} paper={paper} /> });

function Sight({ paper }: { paper: Paper }) {
  const { t } = useTranslation();
  const isPhone = useIsPhone();
  const { document, copy } = paper;
  const path = document === undefined ? undefined : `/api/workrooms/documents/${document.id}`;
  const download = copy?.downloadUrl ?? `${path}/download`;
  const pdf = copy?.pdfUrl ?? `${path}/pdf`;
  const name = paper.title.replace(/\.[^.]*$/, ".pdf");
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        {copy === undefined ? <Chip>{t("work.notHandedIn")}</Chip> : null}
        <a href={download} download aria-label={t("work.downloadOf", { title: paper.title })} className="inline-flex min-h-11 items-center">
          {t("work.download")}
        </a>
        {paper.title.endsWith(".pdf") ? null : (
          <Button kind="quiet" className="px-0" aria-label={t("work.pdfOf", { title: paper.title })} onPress={() => fetchFile(pdf, name)}>
            {t("work.pdf")}
          </Button>
        )}
        <Leave />
      </div>
      {document === undefined ? (
        <Empty>{t("work.deleted")}</Empty>
      ) : (
        <Suspense fallback={<Shape count={1} />}>
          {/* The frame is as high as its place on a wide screen. */}
          <div className="flex flex-col xl:h-[75vh]">
            <Editor key={document.id} document={document} isView isPhone={isPhone} />
          </div>
        </Suspense>
      )}
      <Leave />
    </div>
  );
}

/** The frame of the editor keeps the keyboard for itself: the way past it, to be seen before and behind it. */
function Leave() {
  const { t } = useTranslation();
  return (
    <Button kind="quiet" className="self-start px-0" onPress={() => document.getElementById("work-panel")?.focus()}>
      {t("work.leave")}
    </Button>
  );
}
