import { useSyncExternalStore } from "react";
import { createPortal } from "react-dom";
import { useTranslation } from "react-i18next";

import type { Me } from "../../auth/session";
import { usePrintedSheets } from "./passwordSheets";

/** Container of the sheets while they are printed; invisible on the screen. */
export function PasswordSheets({ caller }: { caller: Me }) {
  const { t } = useTranslation();
  const all = useSyncExternalStore(usePrintedSheets.listen, usePrintedSheets.now);
  if (all.length === 0) return null;
  return createPortal(
    <div className="print-only">
      <ul className="grid grid-cols-2 text-sm">
        {all.map((slip) => (
          <li key={slip.id} className="flex break-inside-avoid gap-3 border border-dashed border-black p-4">
            <div className="flex min-w-0 grow flex-col gap-1">
              <span className="flex justify-between gap-2">
                <strong className="text-base">{slip.name}</strong>
                <span>{slip.of}</span>
              </span>
              <span>{caller.organization?.name}</span>
              <span>
                {t("people.slip.address")} <strong>{window.location.origin}</strong>
              </span>
              <span>
                {t("people.slip.email")} <strong className="wrap-anywhere">{slip.signInName}</strong>
              </span>
              <span>
                {t("people.slip.password")} <strong className="font-mono text-base">{slip.password}</strong>
              </span>
              <span>{t(slip.code ? "people.slip.hintWithCode" : "people.slip.hint")}</span>
            </div>
            {slip.code ? (
              <svg aria-hidden="true" viewBox={`0 0 ${slip.code.size} ${slip.code.size}`} className="size-28 shrink-0">
                <path d={slip.code.path} />
              </svg>
            ) : null}
          </li>
        ))}
      </ul>
    </div>,
    document.body,
  );
}
