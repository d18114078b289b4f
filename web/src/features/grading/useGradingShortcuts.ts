// Keyboard shortcuts of the grading view.
import { useEffect, useEffectEvent } from "react";

import { isHandledByFocus, isDialogOpen, useShortcuts } from "../../hooks/useShortcuts";

export interface GradingShortcuts {
  onNext: () => void;
  onBefore: () => void;
  onBack: () => void;
}

const REGIONS = ["work-head", "work-document", "work-panel"];

/** `n` and `p` open the next and previous group, Escape the board, F6 the next region. Inactive while the user types. */
export function useGradingShortcuts(shortcuts: GradingShortcuts): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const isOver = isDialogOpen() || document.querySelector("[role=menu], [role=listbox]") !== null;
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || isOver) return;
    if (event.key === "F6") {
      event.preventDefault();
      focusNextRegion(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape" && !event.shiftKey && !isHandledByFocus(event.target)) {
      event.preventDefault();
      shortcuts.onBack();
    }
  });
  useShortcuts({ n: shortcuts.onNext, p: shortcuts.onBefore });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => onKey(event);
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

/** Moves the focus to the next region of the screen, cyclically. */
function focusNextRegion(step: number): void {
  const regions = REGIONS.map((id) => document.getElementById(id)).filter((region) => region !== null);
  const current = regions.findIndex((region) => region.contains(document.activeElement));
  regions[(current + step + regions.length) % regions.length]?.focus();
}
