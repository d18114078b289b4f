import { useQuery } from "@tanstack/react-query";
import { createFileRoute, Link } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { lazy, Suspense } from "react";
import { useTranslation } from "react-i18next";

import { HandIn } from "../../room/HandIn";
import { room } from "../../room/room";
import { Heading } from "../../ui/Heading";
import { Problems } from "../../ui/Problems";
import { Shape } from "../../ui/Shape";

const Editor = lazy(async () => ({ default: (await import("../../room/Editor")).Editor }));

export const Route = createFileRoute("/_school/g/$groupId/d/$documentId")({ component: Document });

/** One document of a work room in its editor, and what the group may do with it. */
function Document() {
  const { t } = useTranslation();
  const { groupId, documentId } = Route.useParams();
  const found = useQuery(room(groupId));
  if (found.isPending) return <Shape count={1} />;
  if (!found.data) return <Problems problem={found.error} again={() => void found.refetch()} />;
  const document = found.data.documents.find((one) => one.id === documentId);
  const name = found.data.group.displayName ?? found.data.group.name;
  return (
    <div className="flex flex-col gap-3">
      <Link to="/g/$groupId" params={{ groupId }} className="inline-flex min-h-11 items-center self-start">
        <ChevronLeft aria-hidden="true" className="size-5" /> {t("room.back", { name })}
      </Link>
      {document === undefined ? (
        <p>{t("problem.NOT_FOUND")}</p>
      ) : (
        <>
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
            <Heading title={document.title}>
              {document.title}.{document.fileExtension}
            </Heading>
            <span className="ms-auto" />
            <HandIn document={document} />
          </div>
          <Suspense fallback={<Shape count={1} />}>
            <Editor document={document} />
          </Suspense>
        </>
      )}
    </div>
  );
}
