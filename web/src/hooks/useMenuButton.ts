import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { PressEvent } from "react-aria-components";

import { prefetchWhenIdle } from "./prefetchWhenIdle";

/** State of an open menu. */
export interface OpenMenu {
  trigger: React.RefObject<HTMLButtonElement | null>;
  /** Initial focus: the first or last item after arrow keys, otherwise the menu itself. */
  focus: "first" | "last" | true;
  close: () => void;
}

/** A button whose menu is loaded on demand, or when the page is idle: the menu code is larger than the board. */
export function useMenuButton(load: () => Promise<unknown>) {
  const trigger = useRef<HTMLButtonElement>(null);
  const [focus, setFocus] = useState<OpenMenu["focus"]>();
  useEffect(() => prefetchWhenIdle(load), [load]);
  const button = {
    ref: trigger,
    "aria-haspopup": "menu",
    "aria-expanded": focus !== undefined,
    onPress: (event: PressEvent) => setFocus(["keyboard", "virtual"].includes(event.pointerType) ? "first" : true),
    onKeyDown: ({ key }: KeyboardEvent) => {
      if (key === "ArrowDown") setFocus("first");
      if (key === "ArrowUp") setFocus("last");
    },
  } as const;
  const openMenu: OpenMenu | undefined =
    focus === undefined ? undefined : { trigger, focus, close: () => setFocus(undefined) };
  return { button, opened: openMenu };
}
