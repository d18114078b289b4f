// The keyboard while works are looked at one after another.
import { useEffect, useEffectEvent } from "react";

import { isHandledByFocus, isDialogOpen, useShortcuts } from "../../hooks/useShortcuts";

export interface GradingShortcuts {
  onNext: () => void;
  onBefore: () => void;
  onBack: () => void;
}

const REGIONS = ["work-head", "work-document", "work-panel"];

/** `n` and `p` go to the next and the last group, Escape to the board, F6 from part to part. Silent while somebody types. */
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

/** Moves the focus to the next part of the screen, from the last to the first. */
function focusNextRegion(step: number): void {
  const regions = REGIONS.map((id) => document.getElementById(id)).filter((region) => region !== null);
  const current = regions.findIndex((region) => region.contains(document.activeElement));
  regions[(current + step + regions.length) % regions.length]?.focus();
}
