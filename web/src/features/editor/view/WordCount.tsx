import type { EditorState } from "prosemirror-state";
import { useTranslation } from "react-i18next";

import { countWords, textOf } from "../editing/statistics";
import { useSettledValue } from "./useController";

const count = ({ doc, selection }: EditorState) => ({
  all: countWords(textOf(doc)),
  selected: selection.empty ? 0 : countWords(textOf(doc, selection.from, selection.to)),
});

/** Number of words of the document, or of the selection. */
export function WordCount() {
  const { t } = useTranslation();
  const { all, selected } = useSettledValue(count);
  return (
    <span className="word-count text-soft hide-medium text-sm tabular-nums">
      {selected > 0 ? t("editor.wordsSelected", { count: selected }) : t("editor.words", { count: all })}
    </span>
  );
}
