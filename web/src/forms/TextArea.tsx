import {
  FieldError,
  Label,
  Text,
  TextArea as AriaTextArea,
  TextField,
  type TextFieldProps,
} from "react-aria-components";

import { BOX, invalidProps } from "../components/base/fieldStyles";

interface Props extends Omit<TextFieldProps, "className" | "children"> {
  label: string;
  hint?: string | undefined;
  problem?: string | undefined;
  rows?: number;
}

/** Multi-line text field with label and error. */
export function TextArea({ label, hint, problem, rows = 4, ...rest }: Props) {
  return (
    <TextField {...rest} {...invalidProps(problem)} className="flex flex-col gap-1">
      <Label className="font-medium">{label}</Label>
      <AriaTextArea rows={rows} className={`${BOX} py-2`} />
      {hint === undefined ? null : (
        <Text slot="description" className="text-soft text-sm">
          {hint}
        </Text>
      )}
      <FieldError className="text-bad text-sm">{problem}</FieldError>
    </TextField>
  );
}
