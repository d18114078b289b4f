import { useNavigate } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { type ReactNode, Suspense } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { PageHeading } from "../../components/PageHeading";
import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { DocumentMenu } from "./DocumentMenu";
import { type Document, fileName, type WorkRoom } from "./workRoom";
import { useIsPhone } from "./screen";
import { lazyPart } from "../../components/lazyPart";

const DocumentEditor = lazyPart(async () => (await import("./DocumentEditor")).DocumentEditor);

/** An open document: name, status and editor. On phones it opens read-only first. `lead` is rendered before the name. */
export function OpenDocument({
  document,
  workRoom,
  isWriting,
  lead,
}: {
  document: Document;
  workRoom: WorkRoom;
  isWriting: boolean;
  lead?: ReactNode;
}) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const isPhone = useIsPhone();
  const isView = isPhone && !isWriting;
  const mode = (edit: boolean) =>
    navigate({
      to: "/groups/$groupId/documents/$documentId",
      params: { groupId: workRoom.groupId, documentId: document.id },
      search: (before) => ({ ...before, mode: edit ? ("edit" as const) : undefined }),
      replace: true,
    });
  return (
    <div className="flex min-h-0 grow flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {lead}
        <PageHeading title={fileName(document)}>
          <span className="text-lg break-words">{fileName(document)}</span>
        </PageHeading>
        {document.status === "DRAFT" ? null : (
          <Badge tone={document.status === "LOCKED" ? "warn" : "good"}>{t(`room.state.${document.status}`)}</Badge>
        )}
        <span className="ms-auto" />
        {isPhone && document.canEdit ? (
          <Button onPress={() => void mode(isView)}>{t(isView ? "room.editor.write" : "room.editor.read")}</Button>
        ) : null}
        <DocumentMenu document={document} workRoom={workRoom} isOpen />
      </div>
      {document.saveFailedAt === null ? null : <NotSaved at={document.saveFailedAt} />}
      {document.contentPending ? (
        <output className="border-warn bg-sheet rounded-xl border px-4 py-2">{t("room.contentPending")}</output>
      ) : null}
      <Suspense fallback={<Skeleton count={1} />}>
        <DocumentEditor document={document} isView={isView} isPhone={isPhone} />
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
