/** How every field looks in which something is typed or chosen. */
export const BOX = "bg-sheet border-line min-h-11 w-full min-w-0 rounded-lg border px-3 text-start";
/** A list or a calendar that opens over the page. */
export const POPOVER = "bg-sheet border-line max-h-[60vh] overflow-auto rounded-lg border p-1 shadow-lg";
/** A line in such a list. */
export const OPTION = "focus:bg-faint data-focused:bg-faint flex min-h-11 cursor-pointer items-center gap-2 rounded px-3 outline-none data-disabled:cursor-not-allowed data-disabled:opacity-60";

/** Marks a field as refused. Only said, not held against the form: what the service refused may be mended in another field. */
export const invalidProps = (problem: string | undefined) => (problem === undefined ? {} : { isInvalid: true, validationBehavior: "aria" as const });
