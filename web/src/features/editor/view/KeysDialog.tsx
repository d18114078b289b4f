import { useTranslation } from "react-i18next";

import { Dialog } from "../../../components/Dialog";
import { KEYS } from "../editing/keys";
import { useKeyText } from "./ToolbarButton";

const GROUPS = ["text", "document", "blocks"] as const;

/** All shortcuts of the editor. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const keyText = useKeyText();
  return (
    <Dialog title={t("editor.keys.open")} isOpen isWide onOpenChange={(isOpen) => isOpen || onClose()}>
      {() => (
        <>
          <div className="gap-x-8 sm:columns-2">
            {GROUPS.map((group) => (
              <section key={group} aria-label={t(`editor.keys.group.${group}`)} className="mb-4 break-inside-avoid">
                <h3 className="font-semibold">{t(`editor.keys.group.${group}`)}</h3>
                <dl className="divide-faint divide-y">
                  {KEYS[group].map(({ name }) => (
                    <div key={name} className="flex items-baseline justify-between gap-4 py-1 text-sm">
                      <dt className="order-last shrink-0">
                        <kbd className="text-soft">{keyText(name)}</kbd>
                      </dt>
                      <dd>{t(`editor.keys.of.${name}`)}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
          <p className="text-soft text-sm">{t("editor.keys.markdown")}</p>
        </>
      )}
    </Dialog>
  );
}
