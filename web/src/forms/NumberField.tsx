import { Minus, Plus } from "lucide-react";
import {
  Button,
  FieldError,
  Group,
  Input,
  Label,
  NumberField as AriaNumberField,
  Text,
  type NumberFieldProps,
} from "react-aria-components";

import { invalidProps } from "../components/base/fieldStyles";

interface Props extends Omit<NumberFieldProps, "className" | "children"> {
  label: string;
  isLabelHidden?: boolean;
  hint?: string;
  problem?: string | undefined;
}

const STEP =
  "border-line inline-flex size-control shrink-0 cursor-pointer items-center justify-center disabled:cursor-not-allowed disabled:opacity-60";

/** Integer field with step buttons. */
export function NumberField({ label, isLabelHidden = false, hint, problem, ...rest }: Props) {
  return (
    <AriaNumberField {...rest} {...invalidProps(problem)} className="flex min-w-0 flex-col gap-1">
      <Label className={isLabelHidden ? "sr-only" : "font-medium"}>{label}</Label>
      <Group className="border-line bg-sheet flex w-fit max-w-full rounded-lg border">
        <Button slot="decrement" className={`${STEP} border-e`}>
          <Minus aria-hidden="true" className="size-4" />
        </Button>
        <Input className="h-control w-14 min-w-0 bg-transparent px-2 text-center tabular-nums" />
        <Button slot="increment" className={`${STEP} border-s`}>
          <Plus aria-hidden="true" className="size-4" />
        </Button>
      </Group>
      {hint === undefined ? null : (
        <Text slot="description" className="text-soft text-sm">
          {hint}
        </Text>
      )}
      <FieldError className="text-bad text-sm">{problem}</FieldError>
    </AriaNumberField>
  );
}
