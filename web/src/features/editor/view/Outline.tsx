import { useTranslation } from "react-i18next";

import { outlineOf } from "../editing/statistics";
import { useController } from "./useController";

/** The headings of the document; a press goes to one. */
export function Outline({ close }: { close: () => void }) {
  const { t } = useTranslation();
  const controller = useController();
  const entries = outlineOf(controller.state.doc);
  return (
    <nav aria-label={t("editor.outline")} className="max-w-80 min-w-60">
      <p className="panel-label px-2 pt-1">{t("editor.outline")}</p>
      {entries.length === 0 ? <p className="text-soft px-2 pb-2 text-sm">{t("editor.outlineEmpty")}</p> : null}
      <ul>
        {entries.map(({ level, text, at }) => (
          <li key={at}>
            <button
              type="button"
              className="tool min-h-9 w-full cursor-pointer rounded-lg py-1 pe-2 text-start text-sm"
              style={{ paddingInlineStart: `${(level - 1) * 14 + 8}px`, fontWeight: level === 1 ? 600 : 400 }}
              onClick={() => {
                close();
                setTimeout(() => controller.goTo(at));
              }}
            >
              {text}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
