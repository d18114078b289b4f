/** How a link looks that stands among buttons. */
export const GO = "bg-sheet text-ink border-line inline-flex min-h-11 items-center justify-center gap-2 rounded-lg border px-4 font-medium hover:no-underline hover:brightness-95";
/** The one of them that is most likely wanted. */
export const GO_MAIN = "bg-accent text-on-accent border-accent inline-flex min-h-11 items-center justify-center gap-2 rounded-lg border px-4 font-medium hover:no-underline hover:brightness-95";
