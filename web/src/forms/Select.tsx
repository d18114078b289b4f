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
  Text,
  type Key,
} from "react-aria-components";

import { BOX, OPTION, POPOVER, invalidProps } from "../components/base/fieldStyles";

export interface Option<K extends string = string> {
  id: K;
  name: string;
}

interface Props<K extends string> {
  label: string;
  /** The context shows what is selected, for instance the head of a column. */
  isLabelHidden?: boolean;
  options: readonly Option<K>[];
  value: K | null;
  onChange: (id: K) => void;
  /** Placeholder while nothing is selected. */
  none?: string;
  hint?: string | undefined;
  problem?: string | undefined;
  isRequired?: boolean;
  isDisabled?: boolean;
}

/** Selects one of a few options. For many, use `ComboBox`. */
export function Select<K extends string>({
  label,
  isLabelHidden = false,
  options,
  value,
  onChange,
  none,
  hint,
  problem,
  isRequired = false,
  isDisabled = false,
}: Props<K>) {
  return (
    <AriaSelect
      value={value}
      onChange={(key: Key | null) => key !== null && onChange(key as K)}
      {...invalidProps(problem)}
      // A value whose option is still loading is not missing.
      isRequired={isRequired && (value === null || options.some(({ id }) => id === value))}
      isDisabled={isDisabled}
      {...(none === undefined ? {} : { placeholder: none })}
      className="flex min-w-0 flex-col gap-1"
    >
      <Label className={isLabelHidden ? "sr-only" : "font-medium"}>{label}</Label>
      <Button
        className={`inline-flex cursor-pointer items-center gap-2 ${isLabelHidden ? "hover:text-ink min-h-8 max-w-full rounded-md text-start" : `${BOX} justify-between`}`}
      >
        <SelectValue className="truncate" />
        <ChevronDown aria-hidden="true" className="size-4 shrink-0" />
      </Button>
      {hint === undefined ? null : (
        <Text slot="description" className="text-soft text-sm">
          {hint}
        </Text>
      )}
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

interface OptionalProps<K extends string> extends Omit<Props<K>, "none" | "isRequired" | "onChange"> {
  /** Label of the option for null. */
  none: string;
  onChange: (id: K | null) => void;
}

/** Selects one of a few options or none. */
export function OptionalSelect<K extends string>({ none, options, value, onChange, ...rest }: OptionalProps<K>) {
  return (
    <Select<K | "">
      {...rest}
      options={[{ id: "", name: none }, ...options]}
      value={value ?? ""}
      onChange={(id) => onChange(id === "" ? null : id)}
    />
  );
}
