import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, type Schemas } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { queryKeys } from "../../api/queryKeys";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { Dialog } from "../../components/Dialog";
import { type Document, fileName, useUserName, versionsQuery, type WorkRoom } from "./workRoom";

type Version = Schemas["DocumentVersion"];

/** The saved versions of a document, to download or restore. */
export function VersionsDialog({
  document,
  workRoom,
  onClose,
}: {
  document: Document;
  workRoom: WorkRoom;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const all = useQuery(versionsQuery(document.id));
  const restore = useRestore(document, workRoom.groupId);
  const canRestore = document.canEdit === true && document.status === "DRAFT";
  const latest = document.version;
  return (
    <Dialog
      title={t("room.versions.of", { name: fileName(document) })}
      isOpen
      onOpenChange={(isOpen) => isOpen || onClose()}
      isWide
    >
      {(close) => (
        <>
          {all.isPending ? <Skeleton count={1} /> : null}
          {all.isError ? <ErrorMessage problem={all.error} onRetry={() => void all.refetch()} /> : null}
          {all.data?.length === 0 ? <p>{t("room.versions.none")}</p> : null}
          <ul className="divide-faint flex flex-col divide-y">
            {(all.data ?? [])
              .toSorted((one, other) => other.version - one.version)
              .map((version) => (
                <VersionRow
                  key={version.id}
                  version={version}
                  workRoom={workRoom}
                  isLatest={version.version === latest}
                  address={`/api/workrooms/documents/${document.id}/versions/${version.version}/download`}
                  restore={
                    canRestore && version.version !== latest && version.origin !== "LATE_AFTER_LOCK"
                      ? () => restore.mutate({ version: version.version, latest })
                      : undefined
                  }
                  isPending={restore.isPending && restore.variables.version === version.version}
                />
              ))}
          </ul>
          <p className="flex justify-end">
            <Button onPress={close}>{t("app.close")}</Button>
          </p>
        </>
      )}
    </Dialog>
  );
}

interface VersionRowProps {
  version: Version;
  workRoom: WorkRoom;
  isLatest: boolean;
  address: string;
  restore: (() => void) | undefined;
  isPending: boolean;
}

function VersionRow({ version, workRoom, isLatest, address, restore, isPending }: VersionRowProps) {
  const { t } = useTranslation();
  const nameOf = useUserName(workRoom);
  const people = [...new Set(version.editors.length > 0 ? version.editors : [version.savedById])]
    .map(nameOf)
    .join(", ");
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
      <span className="min-w-40 grow">
        <span className="font-medium">
          <Time at={version.createdAt} />
        </span>{" "}
        {isLatest ? <span className="text-soft">({t("room.versions.latest")})</span> : null}
        <br />
        <span className="text-soft text-sm">
          {people} · {t(`room.versions.origin.${version.origin}`)}
        </span>
      </span>
      <a href={address} download className="inline-flex min-h-11 items-center px-2">
        {t("room.download")}
      </a>
      {restore === undefined ? null : (
        <Button onPress={restore} isPending={isPending}>
          {t("room.versions.restore")}
        </Button>
      )}
    </li>
  );
}

/** Restores an earlier version; the undo restores the previous one. */
function useRestore(document: Document, groupId: string) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const refresh = () =>
    Promise.all([
      cache.invalidateQueries({ queryKey: queryKeys.document.versions(document.id) }),
      cache.invalidateQueries({ queryKey: queryKeys.document.editor(document.id) }),
      cache.invalidateQueries({ queryKey: queryKeys.room.one(groupId) }),
    ]);
  const restore = (version: number) =>
    client.POST("/workrooms/documents/{id}/versions/{version}/restore", {
      params: { path: { id: document.id, version } },
    });
  return useMutation({
    mutationFn: ({ version }: { version: number; latest: number }) => restore(version),
    onSuccess: (_, { latest }) =>
      toast(
        t("room.versions.restored"),
        () =>
          void restore(latest)
            .catch((problem: unknown) => toast(errorText(problem)))
            .finally(refresh),
      ),
    onError: (problem) => toast(errorText(problem)),
    onSettled: refresh,
  });
}
