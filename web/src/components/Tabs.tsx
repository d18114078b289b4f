import type { ReactNode } from "react";
import { Tab, TabList, TabPanel, Tabs as Base } from "react-aria-components";

export interface TabPart<K extends string> {
  id: K;
  name: string;
  count?: number | undefined;
  content: () => ReactNode;
}

interface Props<K extends string> {
  label: string;
  parts: readonly TabPart<K>[];
  /** Id of the open tab, stored in the URL. */
  open: K;
  onOpen: (id: K) => void;
}

/** Tabs; only the open panel is rendered. */
export function Tabs<K extends string>({ label, parts, open, onOpen }: Props<K>) {
  return (
    <Base selectedKey={open} onSelectionChange={(key) => onOpen(key as K)} className="flex flex-col gap-4">
      <TabList aria-label={label} className="border-faint flex flex-wrap gap-x-4 border-b sm:gap-x-7">
        {parts.map((part) => (
          <Tab
            key={part.id}
            id={part.id}
            className="data-selected:border-accent data-selected:text-ink text-soft hover:text-ink -mb-px flex min-h-control cursor-pointer items-center gap-2 border-b-3 border-transparent pt-[3px] data-selected:font-medium"
          >
            {part.name}
            {part.count === undefined ? null : <span className="text-soft tabular-nums">{part.count}</span>}
          </Tab>
        ))}
      </TabList>
      {parts.map((part) => (
        <TabPanel key={part.id} id={part.id}>
          {part.content()}
        </TabPanel>
      ))}
    </Base>
  );
}
