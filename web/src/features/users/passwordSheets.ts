// Sheets with first passwords. They are printed and never stored.

/** Content of a sheet. */
export interface PasswordSheet {
  name: string;
  email: string;
  password: string;
  /** Identifies the user further, for instance by homeroom. */
  of?: string | undefined;
}

let printing: readonly PasswordSheet[] = [];
let listeners: () => void = () => {};

/** The sheets being printed, for `PasswordSheets`. */
export const usePrintedSheets = {
  now: () => printing,
  listen: (listener: () => void) => {
    listeners = listener;
    return () => (listeners = () => {});
  },
};

/** Prints sheets: renders them, opens the print dialog, and removes them. */
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
  // After React has rendered them.
  setTimeout(() => window.print());
}
