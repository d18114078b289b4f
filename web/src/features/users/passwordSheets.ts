// Slips of paper with which people sign in for the first time. They are printed, and kept nowhere.

/** What stands on a slip. */
export interface PasswordSheet {
  name: string;
  email: string;
  password: string;
  /** What tells whom it is for: a homeroom, for instance. */
  of?: string | undefined;
}

let printing: readonly PasswordSheet[] = [];
let listeners: () => void = () => {};

/** The slips that are being printed, for `Slips`. */
export const usePrintedSheets = {
  now: () => printing,
  listen: (listener: () => void) => {
    listeners = listener;
    return () => (listeners = () => {});
  },
};

/** Prints slips: they are laid out, the browser asks for the printer, and they are gone. */
export function printSheets(wanted: readonly PasswordSheet[]): void {
  printing = wanted;
  listeners();
  window.addEventListener(
    "afterprint",
    () => {
      printing = [];
      listeners();
    },
    { once: true },
  );
  // Not before React has laid them out.
  setTimeout(() => window.print());
}
