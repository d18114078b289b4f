import { createContext, useContext, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { EditorState } from "prosemirror-state";

import type { EditorController } from "./controller";

export const ControllerContext = createContext<EditorController | undefined>(undefined);

/** The controller of the open document. */
export function useController(): EditorController {
  const controller = useContext(ControllerContext);
  if (controller === undefined) throw new Error("no document is open");
  return controller;
}

/**
 * A value derived from the editor. The component renders again only when its JSON changes, not with every key: `select` runs after
 * every change and must be cheap.
 */
export function useEditorValue<T>(select: (controller: EditorController) => T): T {
  const controller = useController();
  const text = useSyncExternalStore(controller.subscribe, () => JSON.stringify(select(controller)));
  return JSON.parse(text) as T;
}

const SETTLE_MS = 400;

/** A value that is expensive to derive, renewed when the document has been still for a moment. */
export function useSettledValue<T>(select: (state: EditorState) => T): T {
  const controller = useController();
  const [value, setValue] = useState(() => select(controller.state));
  const now = useRef(select);
  useEffect(() => {
    now.current = select;
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last: EditorState | undefined;
    const renew = () => {
      timer = undefined;
      last = controller.state;
      setValue(now.current(last));
    };
    const end = controller.subscribe(() => {
      if (last !== undefined && last.doc === controller.state.doc && last.selection.eq(controller.state.selection))
        return;
      timer ??= setTimeout(renew, SETTLE_MS);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [controller]);
  return value;
}
