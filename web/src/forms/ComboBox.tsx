import { type ReactNode, useState } from "react";
import {
  ComboBox as AriaComboBox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  type Key,
} from "react-aria-components";

import { foldCase } from "../i18n/names";
import { BOX, OPTION, POPOVER, invalidProps } from "../components/base/fieldStyles";

export interface ComboBoxOption {
  id: string;
  name: string;
  note?: string;
}

interface Props {
  label: string;
  /** The typed text; the caller searches the options. */
  input: string;
  onInput: (text: string) => void;
  options: readonly ComboBoxOption[];
  onPick: (id: string) => void;
  /** Shown instead of an empty list. */
  none: ReactNode;
  /** Whether the options belong to an earlier text. Those that do not match the typed text are then hidden at once, so that
   * the list does not change under the pointer when the search ends. */
  isOutdated?: boolean;
  problem?: string | undefined;
  /** The selected option; null when options are only picked. */
  value?: string | null;
}

/** Text field with a list of matching options. */
export function ComboBox({
  label,
  input,
  onInput,
  options,
  onPick,
  none,
  isOutdated = false,
  problem,
  value = null,
}: Props) {
  const typed = foldCase(input);
  const matching = ({ name, note = "" }: ComboBoxOption) =>
    foldCase(name).includes(typed) || foldCase(note).includes(typed);
  // The list closes when the value changes. Without a controlled value, the picked option is the value for a moment, and
  // clearing the field after picking does not open the list again.
  const [isPicked, setIsPicked] = useState(false);
  const [picked, setPicked] = useState<Key | null>(null);
  return (
    <AriaComboBox
      value={value ?? picked}
      inputValue={input}
      onInputChange={(text) => {
        if (text !== "") setIsPicked(false);
        onInput(text);
      }}
      items={isOutdated ? options.filter(matching) : options}
      onChange={(key: Key | null) => {
        if (key === null) return;
        setIsPicked(true);
        setPicked(key);
        setTimeout(() => setPicked(null));
        onPick(String(key));
      }}
      onBlur={() => setIsPicked(false)}
      {...invalidProps(problem)}
      allowsEmptyCollection
      defaultFilter={() => true}
      menuTrigger={isPicked ? "manual" : "focus"}
      className="flex min-w-0 flex-col gap-1"
    >
      <Label className="font-medium">{label}</Label>
      <Input className={BOX} />
      <FieldError className="text-bad text-sm">{problem}</FieldError>
      <Popover className={`${POPOVER} min-w-(--trigger-width)`}>
        <ListBox<ComboBoxOption>
          className="outline-none"
          renderEmptyState={() => <p className="text-soft p-3">{none}</p>}
        >
          {(one) => (
            <ListBoxItem id={one.id} textValue={one.name} className={OPTION}>
              <span>{one.name}</span>
              {one.note === undefined ? null : <span className="text-soft text-sm">{one.note}</span>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaComboBox>
  );
}
