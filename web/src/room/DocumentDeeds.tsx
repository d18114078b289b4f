import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouteContext } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../api/client";
import { neighbour } from "../lib/focus";
import { useSay } from "../lib/problems";
import { queryKeys } from "../lib/queryKeys";
import { isStaff } from "../lib/session";
import { upload } from "../lib/upload";
import { Asked } from "../ui/Ask";
import { type Deed, More } from "../ui/More";
import { note } from "../ui/notes";
import { pick, save, savePdf } from "./files";
import { Rename } from "./Rename";
import { type Document, fileName, type WorkRoom } from "./room";
import { Versions } from "./Versions";

/** What can be done with a document beside opening it. What is not allowed is not offered. */
export function DocumentDeeds({ document, found, isOpen }: { document: Document; found: WorkRoom; isOpen: boolean }) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { person } = useRouteContext({ from: "/_school" });
  const [asked, setAsked] = useState<"rename" | "versions" | "delete">();
  const place = useRef<HTMLSpanElement>(null);
  const close = () => setAsked(undefined);
  const settle = () => cache.invalidateQueries({ queryKey: queryKeys.room.one(found.groupId) });
  const fail = (problem: unknown) => note(say(problem));

  const pdf = useMutation({ mutationFn: () => savePdf(document), onError: fail });
  const remove = useMutation({
    mutationFn: async () => {
      // Its editor closes first: it would ask for what is gone.
      if (isOpen) await navigate({ to: "/g/$groupId", params: { groupId: found.groupId }, search: { place: "documents" } });
      await client.DELETE("/workrooms/documents/{id}", { params: { path: { id: document.id } } });
    },
    onMutate: () => neighbour(place.current),
    onSuccess: () => note(t("room.deleted", { name: fileName(document) })),
    onError: fail,
    onSettled: async (_done, _problem, _nothing, focusNear) => {
      await settle();
      if (!isOpen) focusNear?.();
    },
  });
  const replace = useMutation({
    mutationFn: (bytes: File) => {
      const form = new FormData();
      form.append("file", bytes);
      return upload<Document>(`/workrooms/documents/${document.id}/content`, form, undefined, "PUT").done;
    },
    onSuccess: () => note(t("room.replaced", { name: fileName(document) })),
    onError: fail,
    onSettled: () => Promise.all([settle(), cache.invalidateQueries({ queryKey: queryKeys.document.versions(document.id) }), cache.invalidateQueries({ queryKey: queryKeys.document.editor(document.id) })]),
  });

  const canChange = document.canEdit === true && document.status === "DRAFT";
  const staff = isStaff(person);
  const deeds: (Deed | false)[] = [
    { id: "download", name: t("room.download"), onAction: () => save(`/api/workrooms/documents/${document.id}/download`, fileName(document)) },
    document.documentType !== "pdf" && (staff || document.status === "LOCKED") && { id: "pdf", name: t("room.pdf"), onAction: () => (note(t("room.pdfGoing")), pdf.mutate()) },
    { id: "versions", name: t("room.versions.title"), onAction: () => setAsked("versions") },
    canChange && { id: "replace", name: t("room.replace"), onAction: () => pick(`.${document.fileExtension}`, (bytes) => replace.mutate(bytes)) },
    canChange && { id: "rename", name: t("app.rename"), onAction: () => setAsked("rename") },
    canChange && (staff || document.createdById === person.id) && { id: "delete", name: t("app.delete"), isDanger: true, onAction: () => setAsked("delete") },
  ];
  return (
    <span ref={place} className="shrink-0">
      <More label={fileName(document)} deeds={deeds.filter((deed) => deed !== false)} isPending={pdf.isPending || remove.isPending || replace.isPending} />
      {asked === "rename" ? <Rename document={document} groupId={found.groupId} onClose={close} /> : null}
      {asked === "versions" ? <Versions document={document} found={found} onClose={close} /> : null}
      {asked === "delete" ? (
        <Asked title={t("room.delete.title", { name: fileName(document) })} text={t("room.delete.text")} yes={t("app.delete")} onYes={() => remove.mutate()} onClose={close} />
      ) : null}
    </span>
  );
}
