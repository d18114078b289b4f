import { ToggleButton, ToggleButtonGroup } from "react-aria-components";

interface Props<K extends string> {
  label: string;
  options: readonly { id: K; name: string; count?: number }[];
  value: K;
  onChange: (value: K) => void;
}

/** A choice of one mode or filter. */
export function Segmented<K extends string>({ label, options, value, onChange }: Props<K>) {
  return (
    <ToggleButtonGroup
      aria-label={label}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => {
        for (const key of keys) onChange(key as K);
      }}
      className="bg-sunk inline-flex min-h-control max-w-full gap-0.5 overflow-x-auto rounded-lg border border-transparent p-0.5"
    >
      {options.map((option) => (
        <ToggleButton
          key={option.id}
          id={option.id}
          className="text-soft data-selected:bg-sheet data-selected:text-ink hover:text-ink inline-flex min-h-8 shrink-0 cursor-pointer items-center gap-1.5 rounded-md border border-transparent px-3 whitespace-nowrap data-selected:shadow-xs forced-colors:data-selected:border-[Highlight]"
        >
          {option.name}
          {option.count === undefined ? null : <span className="tabular-nums">{option.count}</span>}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}
