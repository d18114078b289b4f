import { Button as Base, type ButtonProps } from "react-aria-components";

type Kind = "main" | "plain" | "quiet" | "danger";

const KINDS: Record<Kind, string> = {
  main: "bg-accent text-on-accent border-accent",
  plain: "bg-sheet text-ink border-line",
  quiet: "border-transparent text-accent",
  danger: "bg-sheet text-bad border-bad",
};

/** A button of at least 44 pixels, so that a finger finds it. */
export function Button({ kind = "plain", className = "", ...rest }: Omit<ButtonProps, "className"> & { kind?: Kind; className?: string }) {
  return (
    <Base
      {...rest}
      className={`inline-flex min-h-11 min-w-11 cursor-pointer items-center justify-center gap-2 rounded-lg border px-4 font-medium hover:brightness-95 disabled:cursor-not-allowed disabled:opacity-60 ${KINDS[kind]} ${className}`}
    />
  );
}
