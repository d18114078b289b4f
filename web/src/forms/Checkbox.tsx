import { Check as Mark } from "lucide-react";
import type { ReactNode } from "react";
import { Checkbox as AriaCheckbox, type CheckboxProps } from "react-aria-components";

/** A checkbox with its label. */
export function Checkbox({
  children,
  ...rest
}: Omit<CheckboxProps, "className" | "children"> & { children: ReactNode }) {
  return (
    <AriaCheckbox
      {...rest}
      className="group flex min-h-11 cursor-pointer items-center gap-2 data-disabled:cursor-not-allowed data-disabled:opacity-60"
    >
      <span
        aria-hidden="true"
        className="border-line bg-sheet group-data-selected:border-accent group-data-focus-visible:outline-accent inline-flex size-6 shrink-0 items-center justify-center rounded border group-data-focus-visible:outline-3 group-data-focus-visible:outline-offset-2"
      >
        <Mark className="text-accent invisible size-5 group-data-selected:visible" />
      </span>
      {children}
    </AriaCheckbox>
  );
}
