import { useSyncExternalStore } from "react";

const wide = window.matchMedia("(min-width: 40rem)");
const listen = (heard: () => void) => {
  wide.addEventListener("change", heard);
  return () => wide.removeEventListener("change", heard);
};

/** Whether the screen is wide enough for side-by-side layouts. */
export const useIsWide = (): boolean => useSyncExternalStore(listen, () => wide.matches);
