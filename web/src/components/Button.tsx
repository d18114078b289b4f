import type { Ref } from "react";
import { Button as Base, type ButtonProps } from "react-aria-components";

type ButtonKind = "main" | "plain" | "quiet" | "danger";

const KINDS: Record<ButtonKind, string> = {
  main: "bg-accent text-on-accent border-accent",
  plain: "bg-sheet text-ink border-line",
  quiet: "border-transparent text-accent",
  danger: "bg-sheet text-bad border-bad",
};

/** Classes that make a link look like a button. */
export const buttonClass = (kind: ButtonKind = "plain"): string =>
  `inline-flex min-h-11 min-w-11 items-center justify-center gap-2 rounded-lg border px-4 font-medium no-underline hover:no-underline hover:brightness-95 ${KINDS[kind]}`;

interface Props extends Omit<ButtonProps, "className" | "isPending"> {
  kind?: ButtonKind;
  className?: string;
  ref?: Ref<HTMLButtonElement>;
  /** The action is running: the button keeps the focus and ignores presses. */
  isPending?: boolean;
}

/** A button of at least 44 pixels, the minimum touch target. */
export function Button({ kind = "plain", className = "", isPending = false, onPress, type, ...rest }: Props) {
  // A width class given by the caller replaces the padding: of two conflicting classes the later rule would win.
  const padding = /(^|\s)px-/.test(className) ? "" : "px-4";
  const behaviour = isPending ? { "data-busy": true } : { onPress, type };
  return (
    <Base
      {...rest}
      {...(behaviour as ButtonProps)}
      className={`inline-flex min-h-11 min-w-11 cursor-pointer items-center justify-center gap-2 rounded-lg border font-medium hover:brightness-95 disabled:cursor-not-allowed disabled:opacity-60 data-busy:cursor-progress data-busy:opacity-60 ${padding} ${KINDS[kind]} ${className}`}
    />
  );
}
