import type { Ref } from "react";
import { Button as Base, type ButtonProps } from "react-aria-components";

/**
 * The weights of controls: `main` is the next thing to do, once per screen; `plain` the other actions people come for; `quiet`
 * everything else. `danger` is for confirmations.
 */
type ButtonKind = "main" | "plain" | "quiet" | "danger";

// The border is transparent, and drawn in forced colors.
const KINDS: Record<ButtonKind, string> = {
  main: "bg-accent text-on-accent border-transparent hover:brightness-110",
  plain: "bg-sunk text-ink border-transparent hover:bg-hover",
  quiet: "border-transparent text-soft hover:bg-sunk hover:text-ink",
  danger: "bg-bad text-sheet border-transparent hover:brightness-110",
};

const BASE =
  "inline-flex min-h-control min-w-control items-center justify-center gap-2 rounded-lg border font-medium transition-colors duration-100";

/** Classes that make a link look like a button. */
export const buttonClass = (kind: ButtonKind = "plain"): string =>
  `${BASE} px-3.5 no-underline hover:no-underline ${KINDS[kind]}`;

interface Props extends Omit<ButtonProps, "className" | "isPending"> {
  kind?: ButtonKind;
  className?: string;
  ref?: Ref<HTMLButtonElement>;
  /** The action is running: the button keeps the focus and ignores presses. */
  isPending?: boolean;
}

/** A button: 40 pixels high, on touch screens 44. */
export function Button({ kind = "plain", className = "", isPending = false, onPress, type, ...rest }: Props) {
  // A width class given by the caller replaces the padding: of two conflicting classes the later rule would win.
  const padding = /(^|\s)px-/.test(className) ? "" : "px-3.5";
  const behaviour = isPending ? { "data-busy": true } : { onPress, type };
  return (
    <Base
      {...rest}
      {...(behaviour as ButtonProps)}
      className={`${BASE} cursor-pointer disabled:cursor-not-allowed disabled:opacity-50 data-busy:cursor-progress data-busy:opacity-60 ${padding} ${KINDS[kind]} ${className}`}
    />
  );
}
