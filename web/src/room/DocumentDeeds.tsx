import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouteContext } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { client } from "../api/client";
import { useSay } from "../lib/problems";
import { isStaff } from "../lib/session";
import { upload } from "../lib/upload";
import { Asked } from "../ui/Asked";
import { type Deed, More } from "../ui/More";
import { note } from "../ui/notes";
import { save, savePdf } from "./files";
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
  const file = useRef<HTMLInputElement>(null);
  const close = () => setAsked(undefined);
  const settle = () => cache.invalidateQueries({ queryKey: ["room", found.groupId] });
  const fail = (problem: unknown) => note(say(problem));

  const pdf = useMutation({ mutationFn: () => savePdf(document), onError: fail });
  const remove = useMutation({
    mutationFn: () => client.DELETE("/workrooms/documents/{id}", { params: { path: { id: document.id } } }),
    onSuccess: async () => {
      note(t("room.deleted", { name: fileName(document) }));
      if (isOpen) await navigate({ to: "/g/$groupId", params: { groupId: found.groupId }, search: { place: "documents" } });
    },
    onError: fail,
    onSettled: settle,
  });
  const replace = useMutation({
    mutationFn: (bytes: File) => {
      const form = new FormData();
      form.append("file", bytes);
      return upload<Document>(`/workrooms/documents/${document.id}/content`, form, undefined, "PUT").done;
    },
    onSuccess: () => note(t("room.replaced", { name: fileName(document) })),
    onError: fail,
    onSettled: () => Promise.all([settle(), cache.invalidateQueries({ queryKey: ["document", document.id] })]),
  });

  const canChange = document.canEdit === true && document.status === "DRAFT";
  const staff = isStaff(person);
  const deeds: (Deed | false)[] = [
    { id: "download", name: t("room.download"), onAction: () => save(`/api/workrooms/documents/${document.id}/download`, fileName(document)) },
    document.documentType !== "pdf" && (staff || document.status === "LOCKED") && { id: "pdf", name: t("room.pdf"), onAction: () => (note(t("room.pdfGoing")), pdf.mutate()) },
    { id: "versions", name: t("room.versions.title"), onAction: () => setAsked("versions") },
    canChange && { id: "replace", name: t("room.replace"), onAction: () => file.current?.click() },
    canChange && { id: "rename", name: t("app.rename"), onAction: () => setAsked("rename") },
    canChange && (staff || document.createdById === person.id) && { id: "delete", name: t("app.delete"), isDanger: true, onAction: () => setAsked("delete") },
  ];
  return (
    <>
      <More label={fileName(document)} deeds={deeds.filter((deed) => deed !== false)} isPending={pdf.isPending || remove.isPending || replace.isPending} />
      <input
        ref={file}
        hidden
        type="file"
        accept={`.${document.fileExtension}`}
        onChange={(event) => {
          const bytes = event.target.files?.[0];
          event.target.value = "";
          if (bytes) replace.mutate(bytes);
        }}
      />
      {asked === "rename" ? <Rename document={document} groupId={found.groupId} onClose={close} /> : null}
      {asked === "versions" ? <Versions document={document} found={found} onClose={close} /> : null}
      {asked === "delete" ? (
        <Asked title={t("room.delete.title", { name: fileName(document) })} text={t("room.delete.text")} yes={t("app.delete")} onYes={() => remove.mutate()} onClose={close} />
      ) : null}
    </>
  );
}
