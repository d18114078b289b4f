import type { ReactNode } from "react";

import { Checkbox } from "./Checkbox";

interface CheckboxOption {
  id: string;
  name: ReactNode;
  isDisabled?: boolean;
}

interface Props {
  label: string;
  /** Hides the label visually, where other content names the list. */
  isBare?: boolean;
  options: readonly CheckboxOption[];
  value: readonly string[];
  onChange: (ids: string[]) => void;
  /** Label of a checkbox that selects all options. */
  allLabel?: string;
  /** "scroll" shows one column in a frame. */
  layout?: "grid" | "scroll";
  /** Element below the options, such as a button that loads more of them. */
  end?: ReactNode;
}

const LAYOUTS = {
  grid: "grid gap-x-4 grid-cols-[repeat(auto-fill,minmax(min(100%,11rem),1fr))]",
  scroll: "border-faint max-h-[45vh] overflow-y-auto rounded-lg border px-3",
};

/** Selects any number of options. Keeps selected ids that are not among the options. */
export function CheckboxList({
  label,
  isBare = false,
  options,
  value,
  onChange,
  allLabel,
  layout = "grid",
  end,
}: Props) {
  const ids = options.filter((option) => option.isDisabled !== true).map((option) => option.id);
  const count = ids.filter((id) => value.includes(id)).length;
  const select = (changed: readonly string[], isOn: boolean) =>
    onChange([...value.filter((id) => !changed.includes(id)), ...(isOn ? changed : [])]);
  return (
    <fieldset className="flex min-w-0 flex-col">
      <legend className={isBare ? "sr-only" : "font-medium"}>{label}</legend>
      {allLabel === undefined ? null : (
        <Checkbox
          isSelected={ids.length > 0 && count === ids.length}
          isIndeterminate={count > 0 && count < ids.length}
          onChange={(isOn) => select(ids, isOn)}
        >
          {allLabel}
        </Checkbox>
      )}
      <div className={LAYOUTS[layout]}>
        {options.map(({ id, name, isDisabled = false }) => (
          <Checkbox
            key={id}
            isSelected={value.includes(id)}
            isDisabled={isDisabled}
            onChange={(isOn) => select([id], isOn)}
          >
            <span className="min-w-0 wrap-anywhere">{name}</span>
          </Checkbox>
        ))}
        {end}
      </div>
    </fieldset>
  );
}
