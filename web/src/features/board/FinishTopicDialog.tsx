import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { Select } from "../../forms/Select";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Dialog } from "../../components/Dialog";
import { type Board } from "./board";
import { type Links, linksToCreate, NO_TOPIC, documentsStayingOpen } from "./openDrafts";
import { numberedName } from "../lesson/groupNames";

/** Confirms finishing a topic: lists drafts without a topic, which are locked too, and documents that stay open. */
export function FinishTopicDialog({ board, onClose }: { board: Board; onClose: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const path = { id: board.assignment.id };
  const [chosen, setChosen] = useState<Links>({});
  const preview = useQuery({
    queryKey: queryKeys.assignments.finishPreview(path.id),
    queryFn: () => unwrap(client.POST("/assignments/{id}/finish", { params: { path, query: { dryRun: "1" } } })),
    gcTime: 0,
    staleTime: 0,
  });
  const drafts = preview.data?.unlinkedDrafts ?? [];
  const finish = useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/assignments/{id}/finish", { params: { path }, body: { links: linksToCreate(drafts, chosen) } }),
      ),
    onSuccess: ({ unsavedDocuments }) => {
      if (unsavedDocuments.length > 0) toast(t("finish.unsaved", { count: unsavedDocuments.length }));
      onClose();
    },
    onError: (problem) => {
      toast(errorText(problem));
      void preview.refetch();
    },
    onSettled: () => cache.invalidateQueries(),
  });
  const before = preview.data?.openDocuments ?? [];
  const open = documentsStayingOpen(before, drafts, chosen, path.id);
  const documents = preview.data?.lockedDocuments ?? board.groups.reduce((sum, card) => sum + card.documents.length, 0);
  const locked = t("board.documents", { count: documents - (open.length - before.length) });
  return (
    <Dialog title={t("finish.title")} role="alertdialog" isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <p>
            {t("finish.text", { documents: locked, groups: t("board.groupCount", { count: board.groups.length }) })}
          </p>
          {preview.isError ? <ErrorMessage problem={preview.error} onRetry={() => void preview.refetch()} /> : null}
          {drafts.length === 0 ? null : (
            <section aria-label={t("finish.drafts")} className="flex flex-col gap-3">
              <h3 className="font-semibold">{t("finish.drafts")}</h3>
              <p className="text-soft">{t("finish.draftsText")}</p>
              {drafts.map((draft) => (
                <Select
                  key={draft.documentId}
                  label={t("finish.draft", { title: draft.title, group: numberedName(draft.group) })}
                  options={[
                    { id: NO_TOPIC, name: t("finish.noTopic") },
                    { id: path.id, name: t("finish.thisTopic", { title: board.assignment.title }) },
                    ...draft.topics.map((topic) => ({
                      id: topic.assignmentId,
                      name: t("finish.otherTopic", { title: topic.title }),
                    })),
                  ]}
                  value={chosen[draft.documentId] ?? NO_TOPIC}
                  onChange={(topic) => setChosen({ ...chosen, [draft.documentId]: topic })}
                />
              ))}
            </section>
          )}
          {open.length === 0 ? null : (
            <section aria-label={t("finish.open")} className="flex flex-col gap-1">
              <h3 className="font-semibold">{t("finish.open")}</h3>
              <ul className="list-disc ps-5">
                {open.map((one) => (
                  <li key={one.documentId}>
                    {t("finish.openOne", {
                      title: one.title,
                      group: numberedName(one.group),
                      topic: one.assignmentTitle,
                    })}
                  </li>
                ))}
              </ul>
            </section>
          )}
          <p className="flex flex-wrap justify-end gap-2">
            <Button autoFocus isDisabled={finish.isPending} onPress={close}>
              {t("ask.cancel")}
            </Button>
            <Button
              kind="danger"
              isDisabled={preview.isPending}
              isPending={finish.isPending}
              onPress={() => finish.mutate()}
            >
              {t("finish.yes")}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}
