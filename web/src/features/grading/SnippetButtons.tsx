import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { invalidate } from "../../api/queryKeys";
import { OverflowMenu } from "../../components/base/OverflowMenu";
import { Skeleton } from "../../components/base/Skeleton";
import { toast } from "../../components/base/toast";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/ErrorMessage";
import { SearchField } from "../../components/SearchField";
import { FormBody } from "../../forms/FormDialog";
import { TextArea } from "../../forms/TextArea";
import { useForm } from "../../forms/useForm";
import { useErrorText } from "../../i18n/useErrorText";
import { appendSnippet, canBeSnippet, findSnippets, type Snippet, SNIPPET_MAX, snippetsQuery } from "./snippets";

interface Props {
  /** The text of the field. */
  text: string;
  maxLength: number;
  onChange: (text: string) => void;
}

/** Inserts an own text into a feedback field, and saves the text of the field as one. */
export function SnippetButtons({ text, maxLength, onChange }: Props) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const found = useQuery(snippetsQuery);
  const save = useMutation({
    mutationFn: () => unwrap(client.POST("/snippets", { body: { text: text.trim() } })),
    onSuccess: () => void toast(t("snippets.saved")),
    onError: (problem) => void toast(errorText(problem)),
    onSettled: () => invalidate(cache, "snippets"),
  });
  return (
    <p className="-mx-2 -mt-2 flex flex-wrap">
      <Button kind="quiet" className="px-2" aria-haspopup="dialog" onPress={() => setOpen(true)}>
        {t("snippets.insert")}
      </Button>
      {found.data && canBeSnippet(text, found.data) ? (
        <Button kind="quiet" className="px-2" isPending={save.isPending} onPress={() => save.mutate()}>
          {t("snippets.save")}
        </Button>
      ) : null}
      {isOpen ? (
        <SnippetDialog
          onInsert={(snippet) => onChange(appendSnippet(text, snippet, maxLength))}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </p>
  );
}

function SnippetDialog({ onInsert, onClose }: { onInsert: (text: string) => void; onClose: () => void }) {
  const { t } = useTranslation();
  const found = useQuery(snippetsQuery);
  const [search, setSearch] = useState("");
  const [edited, setEdited] = useState<Snippet | "new">();
  const all = found.data ?? [];
  const shown = findSnippets(all, search);
  if (edited !== undefined)
    return (
      <Dialog
        title={t(edited === "new" ? "snippets.newTitle" : "snippets.editTitle")}
        isOpen
        onOpenChange={(isOpen) => isOpen || onClose()}
      >
        {() => <SnippetForm snippet={edited === "new" ? undefined : edited} close={() => setEdited(undefined)} />}
      </Dialog>
    );
  return (
    <Dialog title={t("snippets.title")} isOpen onOpenChange={(isOpen) => isOpen || onClose()}>
      {(close) => (
        <>
          <p className="text-soft text-sm">{t("snippets.private")}</p>
          {found.isPending ? <Skeleton count={3} /> : null}
          {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
          {all.length > 5 ? <SearchField label={t("snippets.find")} value={search} onChange={setSearch} /> : null}
          {found.data && shown.length === 0 ? (
            <p>{t(all.length === 0 ? "snippets.none" : "snippets.noneFound")}</p>
          ) : null}
          <ul className="divide-faint border-faint max-h-[50vh] divide-y overflow-y-auto border-y empty:hidden">
            {shown.map((snippet) => (
              <SnippetRow
                key={snippet.id}
                snippet={snippet}
                onInsert={() => {
                  onInsert(snippet.text);
                  onClose();
                }}
                onEdit={() => setEdited(snippet)}
              />
            ))}
          </ul>
          <p className="flex flex-wrap justify-end gap-2">
            <Button onPress={() => setEdited("new")}>{t("snippets.new")}</Button>
            <Button onPress={close}>{t("app.close")}</Button>
          </p>
        </>
      )}
    </Dialog>
  );
}

function SnippetRow({ snippet, onInsert, onEdit }: { snippet: Snippet; onInsert: () => void; onEdit: () => void }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const onSettled = () => invalidate(cache, "snippets");
  const restore = useMutation({
    mutationFn: () => unwrap(client.POST("/snippets", { body: { text: snippet.text } })),
    onError: (problem) => void toast(errorText(problem)),
    onSettled,
  });
  const remove = useMutation({
    mutationFn: () => unwrap(client.DELETE("/snippets/{id}", { params: { path: { id: snippet.id }, query: {} } })),
    onSuccess: () => void toast(t("snippets.deleted"), () => restore.mutate()),
    onError: (problem) => void toast(errorText(problem)),
    onSettled,
  });
  return (
    <li className="flex items-start gap-1 py-1">
      <Button kind="quiet" className="min-w-0 grow justify-start! px-2 py-2 text-start font-normal!" onPress={onInsert}>
        <span className="text-ink line-clamp-3 min-w-0 wrap-anywhere whitespace-pre-line">{snippet.text}</span>
      </Button>
      <OverflowMenu
        label={snippet.text.slice(0, 40)}
        isPending={remove.isPending}
        actions={[
          { id: "edit", name: t("snippets.edit"), onAction: onEdit },
          { id: "delete", name: t("app.delete"), isDanger: true, onAction: () => remove.mutate() },
        ]}
      />
    </li>
  );
}

function SnippetForm({ snippet, close }: { snippet: Snippet | undefined; close: () => void }) {
  const { t } = useTranslation();
  const form = useForm({
    initial: { text: snippet?.text ?? "" },
    send: ({ text }) =>
      snippet === undefined
        ? unwrap(client.POST("/snippets", { body: { text } }))
        : unwrap(client.PATCH("/snippets/{id}", { params: { path: { id: snippet.id } }, body: { text } })),
    refreshes: ["snippets"],
    onSent: close,
  });
  return (
    <FormBody form={form} submitLabel={t("snippets.keep")} close={close}>
      <TextArea
        label={t("snippets.text")}
        rows={5}
        maxLength={SNIPPET_MAX}
        isRequired
        autoFocus
        {...form.field("text")}
      />
    </FormBody>
  );
}
