import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { toast } from "../../components/base/toast";
import { homeroomLabel, type Homeroom } from "./homerooms";

/** Confirms deleting a homeroom; its users stay. */
export function DeleteHomeroomDialog({
  homeroom,
  onClose,
  onDeleted,
}: {
  homeroom: Homeroom;
  onClose: () => void;
  onDeleted?: () => void;
}) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => unwrap(client.DELETE("/homerooms/{id}", { params: { path: { id: homeroom.id } } })),
    onSuccess: async () => {
      onDeleted?.();
      await Promise.all([
        cache.invalidateQueries({ queryKey: queryKeys.homerooms.list() }),
        invalidate(cache, "classes"),
      ]);
      toast(t("homerooms.removed", { name: homeroomLabel(homeroom) }));
    },
    onError: (problem) => void toast(errorText(problem)),
  });
  return (
    <ConfirmDialog
      title={t("homerooms.removeTitle", { name: homeroomLabel(homeroom) })}
      text={<p>{t("homerooms.removeText", { count: homeroom.studentCount })}</p>}
      confirmLabel={t("app.delete")}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
