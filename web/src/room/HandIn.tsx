import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Check, Lock } from "lucide-react";
import { useState } from "react";
import { Dialog, DialogTrigger, Heading, Modal, ModalOverlay, Radio, RadioGroup } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { client, data, Problem } from "../api/client";
import { Button } from "../ui/Button";
import { Problems } from "../ui/Problems";
import type { Document } from "./room";

/** S12: hands a document in for the group, or takes it back. */
export function HandIn({ document }: { document: Document }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const path = { id: document.id };
  const onSettled = () => cache.invalidateQueries();
  const back = useMutation({ mutationFn: () => data(client.POST("/workrooms/documents/{id}/unsubmit", { params: { path }, body: {} })), onSettled });
  if (document.status === "LOCKED") {
    return (
      <p>
        <Lock aria-hidden="true" className="inline size-4" /> {t("handIn.locked")}
      </p>
    );
  }
  if (document.status === "SUBMITTED") {
    return (
      <span className="flex flex-wrap items-center gap-2">
        <output><Check aria-hidden="true" className="inline size-5" /> {t("room.state.SUBMITTED")}</output>
        <Button onPress={() => back.mutate()} isPending={back.isPending}>
          {t("handIn.back")}
        </Button>
        {back.isError ? <Problems problem={back.error} /> : null}
      </span>
    );
  }
  return document.canEdit ? <Submit document={document} onSettled={onSettled} /> : null;
}

function Submit({ document, onSettled }: { document: Document; onSettled: () => void }) {
  const { t, i18n } = useTranslation();
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState<string>();
  const candidates = useQuery({
    queryKey: ["candidates", document.groupId],
    queryFn: () => data(client.GET("/assignments/submission-candidates", { params: { query: { groupId: document.groupId } } })),
    enabled: open,
  });
  const likely = candidates.data?.find((one) => one.isPreselected) ?? candidates.data?.[0];
  const assignmentId = chosen ?? likely?.assignmentId;
  const submit = useMutation({
    mutationFn: (topic: string) => data(client.POST("/workrooms/documents/{id}/submit", { params: { path: { id: document.id } }, body: { assignmentId: topic } })),
    onSuccess: () => setOpen(false),
    onSettled,
  });
  const when = new Intl.DateTimeFormat(i18n.language, { dateStyle: "medium", timeStyle: "short" });
  return (
    <DialogTrigger isOpen={open} onOpenChange={setOpen}>
      <Button kind="main">{t("handIn.open")}</Button>
      <ModalOverlay isDismissable className="fixed inset-0 z-30 grid place-items-center bg-black/50 p-4">
        <Modal className="bg-sheet w-full max-w-md rounded-xl p-5 shadow-xl">
          <Dialog className="flex flex-col gap-4 outline-none">
            <Heading slot="title" className="text-lg font-semibold">
              {t("handIn.title", { title: document.title })}
            </Heading>
            {candidates.data?.length === 0 ? <p>{t("handIn.none")}</p> : null}
            {candidates.data && candidates.data.length > 0 ? (
              <RadioGroup aria-label={t("handIn.topic")} value={assignmentId ?? null} onChange={setChosen} className="flex flex-col gap-1">
                {candidates.data.map((one) => (
                  <Radio key={one.assignmentId} value={one.assignmentId} className="selected:font-semibold flex min-h-11 items-center gap-2">
                    {({ isSelected }) => (
                      <>
                        <span aria-hidden="true">{isSelected ? "◉" : "○"}</span>
                        {one.title} · {t("today.ends", { when: when.format(new Date(one.deadline)) })}
                      </>
                    )}
                  </Radio>
                ))}
              </RadioGroup>
            ) : null}
            <p>{t("handIn.effect")}</p>
            {submit.error instanceof Problem ? <Problems problem={submit.error} /> : null}
            <p className="flex flex-wrap justify-end gap-2">
              <Button onPress={() => setOpen(false)}>{t("ask.cancel")}</Button>
              <Button kind="main" isDisabled={assignmentId === undefined} isPending={submit.isPending} onPress={() => assignmentId && submit.mutate(assignmentId)}>
                {t("handIn.go")}
              </Button>
            </p>
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
