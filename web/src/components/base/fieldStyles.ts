/** Classes of all form fields. */
export const BOX = "bg-sheet border-line min-h-control w-full min-w-0 rounded-lg border px-3 text-start";
/** Popover of a list or calendar. */
export const POPOVER = "bg-sheet border-line max-h-[60vh] overflow-auto rounded-lg border p-1 shadow-lg";
/** Option of such a list. */
export const OPTION =
  "focus:bg-faint data-focused:bg-faint flex min-h-control cursor-pointer items-center gap-2 rounded-md px-3 outline-none data-disabled:cursor-not-allowed data-disabled:opacity-60";

/** Marks a field as invalid without native validation, because the cause of a rejection may be fixed in another field. */
export const invalidProps = (problem: string | undefined) =>
  problem === undefined ? {} : { isInvalid: true, validationBehavior: "aria" as const };
