import { useSyncExternalStore } from "react";

const wide = window.matchMedia("(min-width: 40rem)");
const listen = (listener: () => void) => {
  wide.addEventListener("change", listener);
  return () => wide.removeEventListener("change", listener);
};

/** Whether the screen is wide enough for side-by-side layouts. */
export const useIsWide = (): boolean => useSyncExternalStore(listen, () => wide.matches);
