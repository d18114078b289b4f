import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { invalidate, queryKeys } from "../../api/queryKeys";
import { Asked } from "../../ui/Ask";
import { note } from "../../ui/notes";
import { homeroomLabel, type Homeroom } from "./homerooms";

/** Asks before a homeroom goes; its people stay. */
export function DeleteHomeroomDialog({ homeroom, onClose, onDeleted }: { homeroom: Homeroom; onClose: () => void; onDeleted?: () => void }) {
  const { t } = useTranslation();
  const errorText = useErrorText();
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => unwrap(client.DELETE("/homerooms/{id}", { params: { path: { id: homeroom.id } } })),
    onSuccess: async () => {
      onDeleted?.();
      await Promise.all([cache.invalidateQueries({ queryKey: queryKeys.homerooms.list() }), invalidate(cache, "classes")]);
      note(t("homerooms.removed", { name: homeroomLabel(homeroom) }));
    },
    onError: (problem) => void note(errorText(problem)),
  });
  return (
    <Asked
      title={t("homerooms.removeTitle", { name: homeroomLabel(homeroom) })}
      text={<p>{t("homerooms.removeText", { count: homeroom.studentCount })}</p>}
      yes={t("app.delete")}
      onYes={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
