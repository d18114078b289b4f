import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { translateIfKnown } from "../../i18n";
import { client, unwrap, type Schemas } from "../../api/client";
import { useErrorText } from "../../i18n/useErrorText";
import { ConfirmDialog } from "../../components/base/ConfirmButton";
import { Button } from "../../components/Button";
import { toast } from "../../components/base/toast";

/** Erases a user after previewing what is deleted. It cannot be undone, so the name has to be typed. */
export function EraseUser({ userId, name, onErased }: { userId: string; name: string; onErased: () => Promise<void> }) {
  const { t } = useTranslation();
  const cache = useQueryClient();
  const errorText = useErrorText();
  const [preview, setPreview] = useState<Schemas["Erased"]>();
  const previewing = useMutation({
    mutationFn: () => unwrap(client.POST("/admin/gdpr/erase", { body: { userId, dryRun: true } })),
    onSuccess: ({ erased }) => setPreview(erased),
  });
  const erasing = useMutation({
    mutationFn: () => unwrap(client.POST("/admin/gdpr/erase", { body: { userId, dryRun: false } })),
    onSuccess: async () => {
      toast(t("privacy.erased", { name }));
      // Clears the user before refetching, so that no query requests the erased user.
      await onErased();
      await cache.invalidateQueries();
    },
  });
  const problem = previewing.error ?? erasing.error;
  return (
    <div className="flex flex-col items-start gap-3">
      {problem === null ? null : (
        <p role="alert" className="text-bad">
          {errorText(problem)}
        </p>
      )}
      <Button kind="danger" isPending={previewing.isPending || erasing.isPending} onPress={() => previewing.mutate()}>
        {t("privacy.erase")}
      </Button>
      {preview === undefined ? null : (
        <ConfirmDialog
          title={t("privacy.eraseTitle", { name })}
          text={<ErasureList erased={preview} />}
          confirmLabel={t("privacy.eraseYes")}
          requiredText={name}
          onConfirm={() => erasing.mutate()}
          onClose={() => setPreview(undefined)}
        />
      )}
    </div>
  );
}

function ErasureList({ erased }: { erased: Schemas["Erased"] }) {
  const { t, i18n } = useTranslation();
  const rows = Object.entries(erased).filter(([, count]) => count > 0);
  return (
    <div className="flex flex-col gap-3">
      <p>{t("privacy.eraseText")}</p>
      <dl className="grid grid-cols-[1fr_auto] gap-x-4 text-sm">
        {rows.map(([noun, count]) => (
          <div key={noun} className="col-span-2 grid grid-cols-subgrid">
            <dt>{translateIfKnown(`privacy.noun.${noun}`) ?? noun}</dt>
            <dd className="text-end tabular-nums">{count.toLocaleString(i18n.language)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
