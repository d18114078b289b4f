import type { ClipboardEvent, ReactNode, Ref } from "react";
import {
  FieldError,
  Label,
  Text,
  TextArea as AriaTextArea,
  TextField,
  type TextFieldProps,
} from "react-aria-components";

import { BOX, invalidProps } from "../components/base/fieldStyles";

interface Props extends Omit<TextFieldProps, "className" | "children" | "onPaste"> {
  label: string;
  hint?: string | undefined;
  problem?: string | undefined;
  rows?: number;
  /** A toolbar between label and text. */
  tools?: ReactNode;
  inputRef?: Ref<HTMLTextAreaElement>;
  onPaste?: (event: ClipboardEvent<HTMLTextAreaElement>) => void;
  /** An open list of completions, and its active option. */
  list?: { id: string; active: string } | undefined;
}

/** Multi-line text field with label and error. */
export function TextArea({ label, hint, problem, rows = 4, tools, inputRef, onPaste, list, ...rest }: Props) {
  return (
    <TextField {...rest} {...invalidProps(problem)} className="flex flex-col gap-1">
      <Label className="font-medium">{label}</Label>
      {tools}
      <AriaTextArea
        rows={rows}
        {...(inputRef === undefined ? {} : { ref: inputRef })}
        {...(onPaste === undefined ? {} : { onPaste })}
        {...(list === undefined
          ? {}
          : { "aria-autocomplete": "list", "aria-controls": list.id, "aria-activedescendant": list.active })}
        className={`${BOX} py-2`}
      />
      {hint === undefined ? null : (
        <Text slot="description" className="text-soft text-sm">
          {hint}
        </Text>
      )}
      <FieldError className="text-bad text-sm">{problem}</FieldError>
    </TextField>
  );
}
