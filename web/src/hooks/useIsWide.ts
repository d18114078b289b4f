import { useSyncExternalStore } from "react";

const wide = window.matchMedia("(min-width: 40rem)");
const listen = (heard: () => void) => {
  wide.addEventListener("change", heard);
  return () => wide.removeEventListener("change", heard);
};

/** Whether there is room for more than one thing beside the other. */
export const useIsWide = (): boolean => useSyncExternalStore(listen, () => wide.matches);
