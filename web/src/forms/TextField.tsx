import type { ReactNode } from "react";
import { FieldError, Input, Label, Text, TextField as AriaTextField, type TextFieldProps } from "react-aria-components";

import { BOX, invalidProps } from "../components/base/fieldStyles";

interface Props extends Omit<TextFieldProps, "className" | "children"> {
  label: string;
  hint?: string;
  problem?: string;
  /** Element at the end of the field, such as a button. */
  end?: ReactNode;
  /** Hides the label visually, where other content identifies the field. */
  isBare?: boolean;
  /** Whether the field is for a name to sign in with, which phones neither capitalize nor correct. */
  isSignInName?: boolean;
}

/** Single-line text field with label and error. Without autocomplete, unless the text is about the reader. */
export function TextField({ label, hint, problem, end, isBare = false, isSignInName = false, ...rest }: Props) {
  return (
    <AriaTextField autoComplete="off" {...rest} {...invalidProps(problem)} className="flex flex-col gap-1">
      <Label className={isBare ? "sr-only" : "font-medium"}>{label}</Label>
      <span className="flex gap-2">
        <Input className={BOX} {...(isSignInName ? { autoCapitalize: "none", spellCheck: false } : {})} />
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
