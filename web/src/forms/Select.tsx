import { ChevronDown } from "lucide-react";
import {
  Button,
  FieldError,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select as AriaSelect,
  SelectValue,
  type Key,
} from "react-aria-components";

import { BOX, OPTION, POPOVER, invalidProps } from "../components/base/fieldStyles";

export interface Option<K extends string = string> {
  id: K;
  name: string;
}

interface Props<K extends string> {
  label: string;
  options: readonly Option<K>[];
  value: K | null;
  onChange: (id: K) => void;
  /** Placeholder while nothing is selected. */
  none?: string;
  problem?: string | undefined;
  isDisabled?: boolean;
}

/** Selects one of a few options. For many, use `ComboBox`. */
export function Select<K extends string>({
  label,
  options,
  value,
  onChange,
  none,
  problem,
  isDisabled = false,
}: Props<K>) {
  return (
    <AriaSelect
      value={value}
      onChange={(key: Key | null) => key !== null && onChange(key as K)}
      {...invalidProps(problem)}
      isDisabled={isDisabled}
      {...(none === undefined ? {} : { placeholder: none })}
      className="flex min-w-0 flex-col gap-1"
    >
      <Label className="font-medium">{label}</Label>
      <Button className={`${BOX} inline-flex cursor-pointer items-center justify-between gap-2`}>
        <SelectValue className="truncate" />
        <ChevronDown aria-hidden="true" className="size-4 shrink-0" />
      </Button>
      <FieldError className="text-bad text-sm">{problem}</FieldError>
      <Popover className={`${POPOVER} min-w-(--trigger-width)`}>
        <ListBox items={options} className="outline-none">
          {(option) => (
            <ListBoxItem id={option.id} textValue={option.name} className={`${OPTION} selected:font-semibold`}>
              {option.name}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}
