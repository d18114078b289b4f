import type { ReactNode } from "react";
import { FieldError, Input, Label, Text, TextField as AriaTextField, type TextFieldProps } from "react-aria-components";

import { invalidProps } from "./fieldStyles";

interface Props extends Omit<TextFieldProps, "className" | "children"> {
  label: string;
  hint?: string;
  problem?: string;
  /** What stands at the end of the line, a button for instance. */
  end?: ReactNode;
  /** The label is only for those who listen: what stands beside the field shows it to the others. */
  isBare?: boolean;
}

/** One line of text with its label above, what is wrong with it below. */
export function TextField({ label, hint, problem, end, isBare = false, ...rest }: Props) {
  return (
    <AriaTextField {...rest} {...invalidProps(problem)} className="flex flex-col gap-1">
      <Label className={isBare ? "sr-only" : "font-medium"}>{label}</Label>
      <span className="flex gap-2">
        <Input className="bg-sheet border-line min-h-11 w-full min-w-0 rounded-lg border px-3" />
        {end}
      </span>
      {hint === undefined ? null : (
        <Text slot="description" className="text-soft text-sm">
          {hint}
        </Text>
      )}
      <FieldError className="text-bad text-sm">{problem}</FieldError>
    </AriaTextField>
  );
}
