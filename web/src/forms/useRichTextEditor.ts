// The editor of formatted texts, which is loaded when the first field is shown.
import { type RefObject, useEffect, useState } from "react";

type Editor = typeof import("../features/rich-text/RichTextEditor").RichTextEditor;

let loaded: Editor | undefined;

/**
 * The editor, once it is loaded and the text field has no focus: a field is not replaced while the user types in it.
 * `hasFailed` is true while the editor cannot be loaded; it is requested again when the browser is online.
 */
export function useRichTextEditor(
  isWanted: boolean,
  area: RefObject<HTMLTextAreaElement | null>,
): { editor: Editor | undefined; hasFailed: boolean } {
  const [editor, setEditor] = useState(() => loaded);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    if (!isWanted || editor !== undefined) return undefined;
    const end = new AbortController();
    const { signal } = end;
    const show = () => {
      const field = area.current;
      if (signal.aborted) return;
      if (field === null || field !== document.activeElement) setEditor(() => loaded);
      else field.addEventListener("blur", () => setTimeout(show), { once: true, signal });
    };
    const load = async () => {
      try {
        loaded = (await import("../features/rich-text/RichTextEditor")).RichTextEditor;
      } catch {
        if (!signal.aborted) setFailed(true);
        return;
      }
      show();
    };
    void load();
    window.addEventListener("online", () => void load(), { signal });
    return () => end.abort();
  }, [isWanted, editor, area]);
  return { editor: isWanted ? editor : undefined, hasFailed };
}
