import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { invalidate } from "../../api/queryKeys";
import { Badge } from "../../components/base/Badge";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { Skeleton } from "../../components/base/Skeleton";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/ErrorMessage";
import { SearchField } from "../../components/SearchField";
import { foldCase } from "../../i18n/names";
import { useErrorText } from "../../i18n/useErrorText";
import { RubricEditor } from "./RubricEditor";
import { type ListedRubric, rubricQuery, rubricsQuery } from "./rubrics";

interface Props {
  /** Uses a rubric for the topic. */
  onChoose: (rubricId: string) => void;
  isPending: boolean;
  problem: unknown;
  onClose: () => void;
}

type Edited = { is: "new" } | { is: "edit" | "copy"; id: string };

/** The rubrics that a teacher may use: choose one for a topic, create, change, copy and delete them. */
export function RubricsDialog({ onChoose, isPending, problem, onClose }: Props) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const found = useQuery(rubricsQuery);
  const [search, setSearch] = useState("");
  const [edited, setEdited] = useState<Edited>();
  const [removed, setRemoved] = useState<ListedRubric>();
  const remove = useMutation({
    mutationFn: (id: string) => unwrap(client.DELETE("/rubrics/{id}", { params: { path: { id }, query: {} } })),
    onError: (failed) => void toast(errorText(failed)),
    onSettled: () => invalidate(cache, "rubrics"),
  });
  const all = found.data ?? [];
  const shown = all.filter((rubric) => foldCase(rubric.title).includes(foldCase(search.trim())));
  if (edited !== undefined)
    return (
      <Dialog
        title={t(edited.is === "edit" ? "rubrics.edit" : "rubrics.new")}
        isWide
        isOpen
        onOpenChange={(isOpen) => isOpen || setEdited(undefined)}
      >
        {() => <LoadedEditor edited={edited} close={() => setEdited(undefined)} />}
      </Dialog>
    );
  return (
    <>
      <Dialog title={t("rubrics.choose")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
        {(close) => (
          <>
            <p className="text-soft text-sm">{t("rubrics.chooseText")}</p>
            {found.isPending ? <Skeleton count={3} /> : null}
            {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
            {problem === null ? null : <ErrorMessage problem={problem} />}
            {all.length > 5 ? <SearchField label={t("rubrics.find")} value={search} onChange={setSearch} /> : null}
            {found.data && shown.length === 0 ? (
              <p>{t(all.length === 0 ? "rubrics.none" : "rubrics.noneFound")}</p>
            ) : null}
            <ul className="divide-faint border-faint max-h-[50vh] divide-y overflow-y-auto border-y empty:hidden">
              {shown.map((rubric) => (
                <li key={rubric.id} className="flex items-center gap-2 py-2">
                  <div className="min-w-0 grow">
                    <p className="flex flex-wrap items-center gap-x-2">
                      <span className="font-medium wrap-anywhere">{rubric.title}</span>
                      {rubric.isShared ? <Badge>{t("rubrics.shared")}</Badge> : null}
                    </p>
                    <p className="text-soft text-sm">
                      {t("rubrics.count", { count: rubric.criterionCount })} · {rubric.owner.name}
                    </p>
                  </div>
                  <Button
                    isPending={isPending}
                    onPress={() => onChoose(rubric.id)}
                    aria-label={t("rubrics.useOf", { title: rubric.title })}
                  >
                    {t("rubrics.use")}
                  </Button>
                  <OverflowMenu
                    label={rubric.title}
                    actions={[
                      ...(rubric.canEdit
                        ? [
                            {
                              id: "edit",
                              name: t("rubrics.change"),
                              onAction: () => setEdited({ is: "edit", id: rubric.id }),
                            },
                          ]
                        : []),
                      { id: "copy", name: t("rubrics.copy"), onAction: () => setEdited({ is: "copy", id: rubric.id }) },
                      ...(rubric.canEdit
                        ? [
                            {
                              id: "delete",
                              name: t("rubrics.delete"),
                              isDanger: true,
                              onAction: () => setRemoved(rubric),
                            },
                          ]
                        : []),
                    ]}
                  />
                </li>
              ))}
            </ul>
            <p className="flex flex-wrap justify-end gap-2">
              <Button onPress={() => setEdited({ is: "new" })}>{t("rubrics.create")}</Button>
              <Button onPress={close}>{t("app.close")}</Button>
            </p>
          </>
        )}
      </Dialog>
      {removed === undefined ? null : (
        <ConfirmDialog
          title={t("rubrics.deleteTitle", { title: removed.title })}
          text={t("rubrics.deleteText")}
          confirmLabel={t("rubrics.deleteYes")}
          onConfirm={() => remove.mutate(removed.id)}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </>
  );
}

/** The editor, once the rubric that it begins with is loaded. */
function LoadedEditor({ edited, close }: { edited: Edited; close: () => void }) {
  const id = edited.is === "new" ? "" : edited.id;
  const found = useQuery({ ...rubricQuery(id), enabled: id !== "" });
  if (id !== "" && found.isPending) return <Skeleton count={4} />;
  if (found.isError) return <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} />;
  return (
    <RubricEditor
      rubric={edited.is === "edit" ? found.data : undefined}
      {...(edited.is === "copy" && found.data ? { template: found.data } : {})}
      onSaved={close}
      close={close}
    />
  );
}
