import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";

/** Shows that a draft of an earlier visit was restored, with a button to discard it. */
export function RestoredDraftNotice({ onDiscard }: { onDiscard: () => void }) {
  const { t } = useTranslation();
  return (
    <div className="border-accent bg-sheet flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border px-4 py-2">
      <output className="grow">{t("topic.found")}</output>
      <Button onPress={onDiscard}>{t("topic.discard")}</Button>
    </div>
  );
}
