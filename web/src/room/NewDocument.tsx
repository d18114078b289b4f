import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { fieldProblem } from "../lib/problems";
import { queryKeys } from "../lib/queryKeys";
import { Button } from "../ui/Button";
import { Field } from "../ui/Field";
import { More } from "../ui/More";
import { Problems } from "../ui/Problems";
import { Window } from "../ui/Window";
import type { Topic, WorkRoom } from "./room";

export const KINDS = ["word", "cell", "slide"] as const;
type Kind = (typeof KINDS)[number];

/** A new document: what sort, then its name, then it opens. */
export function NewDocument({ found, topic }: { found: WorkRoom; topic: Topic | undefined }) {
  const { t } = useTranslation();
  const [kind, setKind] = useState<Kind>();
  return (
    <>
      <More label={t("room.new")} deeds={KINDS.map((one) => ({ id: one, name: t(`room.kind.${one}`), onAction: () => setKind(one) }))}>
        <Plus aria-hidden="true" className="size-4" /> {t("app.new")}
      </More>
      {kind === undefined ? null : (
        <Window title={t("room.newKind", { kind: t(`room.kind.${kind}`) })} isOpen onOpenChange={(isOpen) => isOpen || setKind(undefined)}>
          {(close) => <Name found={found} topic={topic} kind={kind} close={close} />}
        </Window>
      )}
    </>
  );
}

function Name({ found, topic, kind, close }: { found: WorkRoom; topic: Topic | undefined; kind: Kind; close: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [title, setTitle] = useState("");
  const assignmentId = topic?.assignment.status === "ACTIVE" ? topic.assignmentId : undefined;
  const create = useMutation({
    mutationFn: () =>
      data(
        client.POST("/workrooms/{id}/documents", {
          params: { path: { id: found.id } },
          body: { title: title.trim(), documentType: kind, ...(assignmentId === undefined ? {} : { assignmentId }) },
        }),
      ),
    onSuccess: async (document) => {
      await cache.invalidateQueries({ queryKey: queryKeys.room.one(found.groupId) });
      close();
      await navigate({ to: "/g/$groupId/d/$documentId", params: { groupId: found.groupId, documentId: document.id }, search: topic ? { topic: topic.assignmentId } : {} });
    },
  });
  const wrong = fieldProblem(create.error, "title");
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (title.trim() !== "" && !create.isPending) create.mutate();
      }}
    >
      {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- the one field of a window that was just asked for */}
      <Field autoFocus label={t("room.name")} value={title} onChange={setTitle} maxLength={120} {...(wrong ? { problem: wrong } : {})} />
      {create.isError && !wrong ? <Problems problem={create.error} /> : null}
      <p className="flex flex-wrap justify-end gap-2">
        <Button onPress={close}>{t("ask.cancel")}</Button>
        <Button kind="main" type="submit" isDisabled={title.trim() === ""} isPending={create.isPending}>
          {t("room.create")}
        </Button>
      </p>
    </form>
  );
}
