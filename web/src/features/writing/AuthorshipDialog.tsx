import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, type Schemas, unwrap } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { Avatar } from "../../components/base/Avatar";
import { EmptyState } from "../../components/base/EmptyState";
import { personColor, personColors } from "../../components/base/people";
import { Skeleton } from "../../components/base/Skeleton";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Checkbox } from "../../forms/Checkbox";

type Authorship = Schemas["DocumentAuthorship"];
type Author = Schemas["TextAuthor"];
/** An author with its index, as passages refer to it. */
type ListedAuthor = Author & { index: number; color: number; label: string };

/** Underlines by author, so that colours are not needed to tell authors apart. */
const LINES = ["solid", "dotted", "dashed", "double", "wavy"] as const;

interface Props {
  documentId: string;
  title: string;
  /** The copy of a submission; without it the present text is shown. */
  copyId?: string | undefined;
  onClose: () => void;
}

/** Who wrote which part of a document. */
export function AuthorshipDialog({ documentId, title, copyId, onClose }: Props) {
  const { t } = useTranslation();
  const found = useQuery({
    queryKey: queryKeys.document.authorship(documentId, copyId),
    queryFn: () =>
      unwrap(
        client.GET("/workrooms/documents/{id}/authorship", {
          params: { path: { id: documentId }, query: copyId === undefined ? {} : { copyId } },
        }),
      ),
    staleTime: 0,
  });
  return (
    <Dialog title={t("writing.whoTitle", { title })} isOpen onOpenChange={(isOpen) => isOpen || onClose()} isWide>
      {() => (
        <>
          {found.isPending ? <Skeleton count={3} /> : null}
          {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
          {found.data === undefined ? null : <AuthoredText found={found.data} />}
        </>
      )}
    </Dialog>
  );
}

function AuthoredText({ found }: { found: Authorship }) {
  const { t } = useTranslation();
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  if (!found.isRecorded) return <EmptyState>{t("writing.notRecorded")}</EmptyState>;
  if (found.blocks.length === 0) return <EmptyState>{t("writing.empty")}</EmptyState>;
  const colors = personColors(found.authors.flatMap((author) => author.userId ?? []));
  const authors = found.authors.map((author, index): ListedAuthor => {
    const id = author.userId;
    return {
      ...author,
      index,
      color: id === null ? 0 : (colors.get(id) ?? personColor(id)),
      label: author.name ?? t("writing.unknown"),
    };
  });
  const toggle = (index: number, isShown: boolean) =>
    setHidden((before) => {
      const after = new Set(before);
      if (isShown) after.delete(index);
      else after.add(index);
      return after;
    });
  return (
    <>
      <fieldset className="border-faint rounded-lg border px-3 pb-2">
        <legend className="px-1 font-medium">{t("writing.legend")}</legend>
        <ul className="grid gap-x-6 sm:grid-cols-2">
          {authors.map((author) => (
            <li key={author.index}>
              <Checkbox isSelected={!hidden.has(author.index)} onChange={(isShown) => toggle(author.index, isShown)}>
                <AuthorMark author={author} />
                <span className={`min-w-0 break-words ${lineOf(author)}`}>{author.label}</span>
                <span className="text-soft ms-auto text-sm whitespace-nowrap tabular-nums">
                  {t("writing.share", { share: author.share })} ·{" "}
                  {t("writing.characters", { count: author.characters })}
                </span>
              </Checkbox>
            </li>
          ))}
        </ul>
      </fieldset>
      <p className="text-soft text-sm">{t("writing.hint")}</p>
      <section
        aria-label={t("writing.text")}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls by itself, so it must be focusable
        tabIndex={0}
        className="border-faint max-h-[55vh] overflow-y-auto rounded-lg border p-3 outline-none focus-visible:outline-3"
      >
        {found.blocks.map((block, number) => (
          // Blocks never move: the text is not edited here.
          <p key={number} className="mb-2 leading-8 break-words whitespace-pre-wrap">
            {block.map((passage, index) => {
              const author = authors[passage.author];
              if (author === undefined || hidden.has(author.index)) return <span key={index}>{passage.text}</span>;
              return (
                <span key={index}>
                  <span className="sr-only">{t("writing.by", { name: author.label })} </span>
                  <AuthorMark author={author} />
                  <span
                    title={author.label}
                    className={`authored ${author.userId === null ? "" : `person-${author.color}`} ${lineOf(author)}`}
                  >
                    {passage.text}
                  </span>
                </span>
              );
            })}
          </p>
        ))}
      </section>
    </>
  );
}

/** The initials of an author; a question mark for text of unknown origin. */
function AuthorMark({ author }: { author: ListedAuthor }) {
  return (
    <span className="me-0.5 inline-flex align-middle">
      <Avatar name={author.name ?? "?"} color={author.color} isAway={author.userId === null} />
    </span>
  );
}

const lineOf = (author: ListedAuthor) =>
  author.userId === null ? "" : `authored-line authored-${LINES[author.index % LINES.length]!}`;
