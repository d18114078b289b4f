import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { Button, Collection, Tree, TreeItem, TreeItemContent, type Key } from "react-aria-components";

export interface Branch {
  id: string;
  name: string;
  /** Quieter words behind the name. */
  note?: string;
  icon?: ReactNode;
  /** What is below it; an empty list can still be opened, undefined cannot. */
  below?: readonly Branch[];
}

interface Props {
  label: string;
  branches: readonly Branch[];
  /** The line that is shown beside the tree. */
  chosen: string;
  onChoose: (id: string) => void;
  /** The lines whose branches are to be seen. */
  opened: ReadonlySet<string>;
  onOpened: (ids: Set<string>) => void;
}

/** Folders in folders: arrows walk and open, Enter chooses, letters find, Home and End go to the ends. */
export function Branches({ label, branches, chosen, onChoose, opened, onOpened }: Props) {
  return (
    <Tree
      aria-label={label}
      items={branches}
      selectionMode="single"
      selectionBehavior="toggle"
      disallowEmptySelection
      selectedKeys={[chosen]}
      onSelectionChange={(keys) => {
        const [key] = keys === "all" ? [] : [...keys];
        if (key !== undefined && key !== chosen) onChoose(String(key));
      }}
      expandedKeys={opened}
      onExpandedChange={(keys: Set<Key>) => onOpened(new Set([...keys].map(String)))}
      className="flex flex-col outline-none"
    >
      {line}
    </Tree>
  );
}

function line(branch: Branch) {
  return (
    <TreeItem
      id={branch.id}
      textValue={branch.name}
      hasChildItems={branch.below !== undefined}
      className="data-selected:bg-sheet data-selected:border-accent hover:bg-faint data-focus-visible:outline-accent cursor-pointer rounded-lg border border-transparent outline-none data-focus-visible:outline-3 data-focus-visible:-outline-offset-2 data-selected:font-medium"
    >
      <TreeItemContent>
        {({ hasChildItems, isExpanded, level }) => (
          <div className="flex min-h-10 items-center gap-1.5 ps-[calc((var(--tree-item-level)-1)*1rem)] pe-2">
            {hasChildItems ? (
              <Button slot="chevron" className="inline-flex size-10 shrink-0 cursor-pointer items-center justify-center rounded-lg">
                <ChevronRight aria-hidden="true" className={`size-4 ${isExpanded ? "rotate-90" : ""}`} />
              </Button>
            ) : (
              <span aria-hidden="true" className={`shrink-0 ${level > 1 ? "w-10" : "w-2"}`} />
            )}
            {branch.icon}
            <span className="min-w-0 py-1 wrap-break-word">
              {branch.name}
              {branch.note === undefined ? null : <span className="text-soft text-sm font-normal"> {branch.note}</span>}
            </span>
          </div>
        )}
      </TreeItemContent>
      <Collection items={branch.below ?? []}>{line}</Collection>
    </TreeItem>
  );
}
