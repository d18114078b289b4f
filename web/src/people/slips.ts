// Slips of paper with which people sign in for the first time. They are printed, and kept nowhere.

/** What stands on a slip. */
export interface Slip {
  name: string;
  email: string;
  password: string;
  /** What tells whom it is for: a homeroom, for instance. */
  of?: string | undefined;
}

let waiting: readonly Slip[] = [];
let heard: () => void = () => {};

/** The slips that are being printed, for `Slips`. */
export const slips = {
  now: () => waiting,
  listen: (listener: () => void) => {
    heard = listener;
    return () => (heard = () => {});
  },
};

/** Prints slips: they are laid out, the browser asks for the printer, and they are gone. */
export function printSlips(wanted: readonly Slip[]): void {
  waiting = wanted;
  heard();
  window.addEventListener(
    "afterprint",
    () => {
      waiting = [];
      heard();
    },
    { once: true },
  );
  // Not before React has laid them out.
  setTimeout(() => window.print());
}
