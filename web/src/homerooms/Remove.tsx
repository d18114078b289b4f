import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { client, data } from "../api/client";
import { useSay } from "../lib/problems";
import { invalidate, queryKeys } from "../lib/queryKeys";
import { Asked } from "../ui/Ask";
import { note } from "../ui/notes";
import { called, type Homeroom } from "./homerooms";

/** Asks before a homeroom goes; its people stay. */
export function Remove({ room, onClose, onGone }: { room: Homeroom; onClose: () => void; onGone?: () => void }) {
  const { t } = useTranslation();
  const say = useSay();
  const cache = useQueryClient();
  const remove = useMutation({
    mutationFn: () => data(client.DELETE("/homerooms/{id}", { params: { path: { id: room.id } } })),
    onSuccess: async () => {
      onGone?.();
      await Promise.all([cache.invalidateQueries({ queryKey: queryKeys.homerooms.list() }), invalidate(cache, "classes")]);
      note(t("homerooms.removed", { name: called(room) }));
    },
    onError: (problem) => void note(say(problem)),
  });
  return (
    <Asked
      title={t("homerooms.removeTitle", { name: called(room) })}
      text={<p>{t("homerooms.removeText", { count: room.studentCount })}</p>}
      yes={t("app.delete")}
      onYes={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
