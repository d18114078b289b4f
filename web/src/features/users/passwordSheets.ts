// Sheets with first passwords. They are printed and never stored.

/** Content of a sheet. */
export interface PasswordSheet {
  id: string;
  name: string;
  /** Email address, or user name with the school. */
  signInName: string;
  password: string;
  /** Secret of the code that signs in once. */
  token?: string | undefined;
  /** Identifies the user further, for instance by homeroom. */
  of?: string | undefined;
}

/** A sheet with its code, if it has one. */
export interface PrintedSheet extends PasswordSheet {
  code?: QrCode | undefined;
}

/** A QR code as the path of its dark squares. */
export interface QrCode {
  size: number;
  path: string;
}

let printing: readonly PrintedSheet[] = [];
let listeners: () => void = () => {};

/** The sheet of a password that was just created. */
export const sheetOf = (
  user: { id: string; name: string; email?: string | null | undefined },
  reset: { temporaryPassword: string; slipToken?: string; username?: string | null },
): PasswordSheet => ({
  id: user.id,
  name: user.name,
  signInName: reset.username ?? user.email ?? "",
  password: reset.temporaryPassword,
  token: reset.slipToken,
});

/** The sheets being printed, for `PasswordSheets`. */
export const usePrintedSheets = {
  now: () => printing,
  listen: (listener: () => void) => {
    listeners = listener;
    return () => (listeners = () => {});
  },
};

/** The address that a code opens. The secret is in the fragment, which browsers do not send. */
export const slipAddress = (token: string): string => `${window.location.origin}/slip#token=${token}`;

/** Prints sheets: renders them with their codes, opens the print dialog, and removes them. */
export async function printSheets(wanted: readonly PasswordSheet[]): Promise<void> {
  const { renderCode } = await import("./qrCode");
  printing = wanted.map((sheet) => ({
    ...sheet,
    code: sheet.token === undefined ? undefined : renderCode(slipAddress(sheet.token)),
  }));
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
