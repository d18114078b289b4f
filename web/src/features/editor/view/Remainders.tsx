import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../../components/Button";
import { useController, useEditorValue } from "./useController";

/** Own text whose place in the document is gone: it can be copied, inserted elsewhere, or discarded. */
export function Remainders() {
  const { t } = useTranslation();
  const controller = useController();
  const remainders = useEditorValue(({ remainders: all }) => all);
  const isEditable = useEditorValue((each) => each.isEditable);
  const [copied, setCopied] = useState<string>();
  if (remainders.length === 0) return null;
  return (
    <section aria-label={t("editor.remainder.title")} className="editor-notice" aria-live="polite">
      <p>{t("editor.remainder.text")}</p>
      <ul className="flex flex-col gap-2">
        {remainders.map(({ id, text }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <blockquote className="border-line max-h-32 min-w-0 grow basis-60 overflow-y-auto border-s-3 ps-3 break-words whitespace-pre-wrap">
              {text}
            </blockquote>
            <Button
              onPress={() => {
                void navigator.clipboard?.writeText(text).then(() => setCopied(id));
              }}
            >
              {t(copied === id ? "editor.remainder.copied" : "editor.remainder.copy")}
            </Button>
            {isEditable ? (
              <Button
                onPress={() => {
                  controller.dispatch(controller.state.tr.insertText(text).scrollIntoView());
                  controller.dismissRemainder(id);
                  controller.focus();
                }}
              >
                {t("editor.remainder.insert")}
              </Button>
            ) : null}
            <Button kind="quiet" onPress={() => controller.dismissRemainder(id)}>
              {t("editor.remainder.discard")}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
