import { TriangleAlert } from "lucide-react";
import { Suspense } from "react";
import { useTranslation } from "react-i18next";

import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { type Document, type WorkRoom } from "./workRoom";
import { useIsPhone } from "./screen";
import { lazyPart } from "../../components/lazyPart";

export const DocumentEditor = lazyPart(async () => (await import("./DocumentEditor")).DocumentEditor);

/** The editor of an open document, in all the space it is given. On phones it opens read-only first. */
export function OpenDocument({
  document,
  workRoom,
  isWriting,
}: {
  document: Document;
  workRoom: WorkRoom;
  isWriting: boolean;
}) {
  const { t } = useTranslation();
  const isPhone = useIsPhone();
  const isView = isPhone && !isWriting;
  const memberIds = workRoom.members.map(({ userId }) => userId);
  return (
    <div className="flex min-h-0 grow flex-col">
      {document.saveFailedAt === null ? null : <NotSaved at={document.saveFailedAt} />}
      {document.contentPending ? (
        <output className="border-warn bg-sheet rounded-xl border px-4 py-2">{t("room.contentPending")}</output>
      ) : null}
      <Suspense fallback={<Skeleton count={1} />}>
        <DocumentEditor document={document} memberIds={memberIds} isView={isView} isPhone={isPhone} />
      </Suspense>
    </div>
  );
}

/** The document server could not save: explains the consequences and what to do. */
function NotSaved({ at }: { at: string }) {
  const { t } = useTranslation();
  return (
    <div role="alert" className="border-bad bg-sheet flex items-start gap-2 rounded-xl border px-4 py-2">
      <TriangleAlert aria-hidden="true" className="text-bad mt-0.5 size-5 shrink-0" />
      <p>
        <strong>
          {t("room.notSavedSince")} <Time at={at} />.
        </strong>{" "}
        {t("room.notSavedWords")}
      </p>
    </div>
  );
}
