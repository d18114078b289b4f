import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { client, data, type Schemas } from "../api/client";
import { useSay } from "../lib/problems";
import { Asked } from "../ui/Ask";
import { Button } from "../ui/Button";
import { note } from "../ui/notes";

/** Erases a person after showing what goes; nothing brings it back, so the name has to be typed. */
export function Erase({ userId, name, onErased }: { userId: string; name: string; onErased: () => Promise<void> }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const say = useSay();
  const [going, setGoing] = useState<Schemas["Erased"]>();
  const looking = useMutation({
    mutationFn: () => data(client.POST("/admin/gdpr/erase", { body: { userId, dryRun: true } })),
    onSuccess: ({ erased }) => setGoing(erased),
  });
  const erasing = useMutation({
    mutationFn: () => data(client.POST("/admin/gdpr/erase", { body: { userId, dryRun: false } })),
    onSuccess: async () => {
      note(t("privacy.erased", { name }));
      // Nobody is left to be asked for before everything else is asked for anew.
      await onErased();
      await cache.invalidateQueries();
    },
  });
  const problem = looking.error ?? erasing.error;
  return (
    <div className="flex flex-col items-start gap-3">
      {problem === null ? null : (
        <p role="alert" className="text-bad">
          {say(problem)}
        </p>
      )}
      <Button kind="danger" isPending={looking.isPending || erasing.isPending} onPress={() => looking.mutate()}>
        {t("privacy.erase")}
      </Button>
      {going === undefined ? null : (
        <Asked title={t("privacy.eraseTitle", { name })} text={<Going erased={going} />} yes={t("privacy.eraseYes")} typed={name} onYes={() => erasing.mutate()} onClose={() => setGoing(undefined)} />
      )}
    </div>
  );
}

function Going({ erased }: { erased: Schemas["Erased"] }) {
  const { t, i18n } = useTranslation();
  const lines = Object.entries(erased).filter(([, count]) => count > 0);
  return (
    <div className="flex flex-col gap-3">
      <p>{t("privacy.eraseText")}</p>
      <dl className="grid grid-cols-[1fr_auto] gap-x-4 text-sm">
        {lines.map(([noun, count]) => (
          <div key={noun} className="col-span-2 grid grid-cols-subgrid">
            <dt>{t(`privacy.noun.${noun}`)}</dt>
            <dd className="text-end tabular-nums">{count.toLocaleString(i18n.language)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
