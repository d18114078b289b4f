import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouteContext } from "@tanstack/react-router";
import { Suspense, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { useUndo } from "../deletions/deletions";
import { client, unwrap } from "../../api/client";
import { keepFocusNear } from "../../hooks/keepFocusNear";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { isStaff } from "../../auth/session";
import { upload } from "../../api/upload";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { type MenuAction, OverflowMenu } from "../../components/base/OverflowMenu";
import { toast } from "../../components/base/toast";
import { pickFile, saveFromUrl, savePdf } from "./files";
import { RenameDocumentDialog } from "./RenameDocumentDialog";
import { AuthorshipDialog, PlaybackDialog } from "../writing/dialogs";
import { type Document, fileName, type WorkRoom } from "./workRoom";
import { VersionsDialog } from "./VersionsDialog";

/** Actions on a document besides opening it. Forbidden actions are not offered. */
export function DocumentMenu({
  document,
  workRoom,
  isOpen,
}: {
  document: Document;
  workRoom: WorkRoom;
  isOpen: boolean;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { person } = useRouteContext({ from: "/_school" });
  const undo = useUndo();
  const [dialog, setDialog] = useState<"rename" | "versions" | "delete" | "who" | "playback">();
  const section = useRef<HTMLSpanElement>(null);
  const close = () => setDialog(undefined);
  const refresh = () => cache.invalidateQueries({ queryKey: queryKeys.room.one(workRoom.groupId) });
  const showError = (problem: unknown) => toast(errorText(problem));

  const pdf = useMutation({ mutationFn: () => savePdf(document), onError: showError });
  const remove = useMutation({
    mutationFn: async () => {
      // The editor closes first, because it would request the deleted document.
      if (isOpen)
        await navigate({
          to: "/groups/$groupId",
          params: { groupId: workRoom.groupId },
          search: { place: "documents" },
        });
      return unwrap(client.DELETE("/workrooms/documents/{id}", { params: { path: { id: document.id }, query: {} } }));
    },
    onMutate: () => keepFocusNear(section.current),
    // A student cannot restore it; a teacher of the class can.
    onSuccess: (deleted) =>
      toast(
        t("room.deleted", { name: fileName(document) }),
        isStaff(person) ? undo(deleted, document.title) : undefined,
      ),
    onError: showError,
    onSettled: async (_done, _problem, _nothing, focusNear) => {
      await refresh();
      if (!isOpen) focusNear?.();
    },
  });
  const replace = useMutation({
    mutationFn: (bytes: File) => {
      const form = new FormData();
      form.append("file", bytes);
      return upload<Document>(`/workrooms/documents/${document.id}/content`, form, undefined, "PUT").done;
    },
    onSuccess: () => toast(t("room.replaced", { name: fileName(document) })),
    onError: showError,
    onSettled: () =>
      Promise.all([
        refresh(),
        cache.invalidateQueries({ queryKey: queryKeys.document.versions(document.id) }),
        cache.invalidateQueries({ queryKey: queryKeys.document.editor(document.id) }),
      ]),
  });

  const canChange = document.canEdit === true && document.status === "DRAFT";
  const staff = isStaff(person);
  const actions: (MenuAction | false)[] = [
    {
      id: "download",
      name: t("room.download"),
      onAction: () => saveFromUrl(`/api/workrooms/documents/${document.id}/download`, fileName(document)),
    },
    document.documentType !== "pdf" &&
      (staff || document.status === "LOCKED") && {
        id: "pdf",
        name: t("room.pdf"),
        onAction: () => (toast(t("room.pdfGoing")), pdf.mutate()),
      },
    staff &&
      document.fileExtension === "docx" && { id: "who", name: t("writing.who"), onAction: () => setDialog("who") },
    staff &&
      document.fileExtension === "docx" &&
      person.organization?.metadata?.features?.documentPlayback === true && {
        id: "playback",
        name: t("writing.playback"),
        onAction: () => setDialog("playback"),
      },
    { id: "versions", name: t("room.versions.title"), onAction: () => setDialog("versions") },
    canChange && {
      id: "replace",
      name: t("room.replace"),
      onAction: () => pickFile(`.${document.fileExtension}`, (bytes) => replace.mutate(bytes)),
    },
    canChange && { id: "rename", name: t("app.rename"), onAction: () => setDialog("rename") },
    canChange &&
      (staff || document.createdById === person.id) && {
        id: "delete",
        name: t("app.delete"),
        isDanger: true,
        onAction: () => setDialog("delete"),
      },
  ];
  return (
    <span ref={section} className="shrink-0">
      <OverflowMenu
        label={fileName(document)}
        actions={actions.filter((action) => action !== false)}
        isPending={pdf.isPending || remove.isPending || replace.isPending}
      />
      {dialog === "rename" ? (
        <RenameDocumentDialog document={document} groupId={workRoom.groupId} onClose={close} />
      ) : null}
      {dialog === "versions" ? <VersionsDialog document={document} workRoom={workRoom} onClose={close} /> : null}
      <Suspense fallback={null}>
        {dialog === "who" ? (
          <AuthorshipDialog documentId={document.id} title={fileName(document)} onClose={close} />
        ) : null}
        {dialog === "playback" ? (
          <PlaybackDialog documentId={document.id} title={fileName(document)} onClose={close} />
        ) : null}
      </Suspense>
      {dialog === "delete" ? (
        <ConfirmDialog
          title={t("room.delete.title", { name: fileName(document) })}
          text={t("room.delete.text")}
          confirmLabel={t("app.delete")}
          onConfirm={() => remove.mutate()}
          onClose={close}
        />
      ) : null}
    </span>
  );
}
