import { Label, Radio, RadioGroup as AriaRadioGroup } from "react-aria-components";

import type { Option } from "./Select";

interface Props<K extends string> {
  label: string;
  options: readonly Option<K>[];
  value: K;
  onChange: (id: K) => void;
}

/** Selects one of two or three options that are all visible. */
export function RadioGroup<K extends string>({ label, options, value, onChange }: Props<K>) {
  return (
    <AriaRadioGroup value={value} onChange={(id) => onChange(id as K)} className="flex flex-col">
      <Label className="font-medium">{label}</Label>
      <div className="flex flex-wrap gap-x-4">
        {options.map((option) => (
          <Radio key={option.id} value={option.id} className="group flex min-h-11 cursor-pointer items-center gap-2">
            <span
              aria-hidden="true"
              className="border-line bg-sheet group-data-focus-visible:outline-accent inline-flex size-6 shrink-0 items-center justify-center rounded-full border group-data-focus-visible:outline-3 group-data-focus-visible:outline-offset-2"
            >
              <svg viewBox="0 0 10 10" className="text-accent invisible size-3.5 group-data-selected:visible">
                <circle cx="5" cy="5" r="5" fill="currentColor" />
              </svg>
            </span>
            {option.name}
          </Radio>
        ))}
      </div>
    </AriaRadioGroup>
  );
}
