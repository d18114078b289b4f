import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { PressEvent } from "react-aria-components";

import { prefetchWhenIdle } from "./prefetchWhenIdle";

/** What a menu needs to know of the button it belongs to. */
export interface OpenMenu {
  trigger: React.RefObject<HTMLButtonElement | null>;
  /** Where the focus goes: to the first or the last line for keys, to the menu itself otherwise. */
  focus: "first" | "last" | true;
  close: () => void;
}

/** A button with a menu that is fetched when it is wanted, or when everything else has come: menus weigh more than boards. */
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
  const openMenu: OpenMenu | undefined = focus === undefined ? undefined : { trigger, focus, close: () => setFocus(undefined) };
  return { button, opened: openMenu };
}
