import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { Button, Collection, Tree as AriaTree, TreeItem, TreeItemContent, type Key } from "react-aria-components";

export interface TreeNode {
  id: string;
  name: string;
  /** Secondary text after the name. */
  note?: string;
  icon?: ReactNode;
  /** Child nodes; an empty array is expandable, undefined is not. */
  children?: readonly TreeNode[];
}

interface Props {
  label: string;
  nodes: readonly TreeNode[];
  /** Id of the selected node. */
  chosen: string;
  onChoose: (id: string) => void;
  /** Ids of the expanded nodes. */
  expanded: ReadonlySet<string>;
  onExpandedChange: (ids: Set<string>) => void;
}

/** Tree with keyboard navigation: arrow keys move and expand, Enter selects, typing searches, Home and End. */
export function Tree({ label, nodes, chosen, onChoose, expanded, onExpandedChange }: Props) {
  return (
    <AriaTree
      aria-label={label}
      items={nodes}
      selectionMode="single"
      selectionBehavior="toggle"
      disallowEmptySelection
      selectedKeys={[chosen]}
      onSelectionChange={(keys) => {
        const [key] = keys === "all" ? [] : [...keys];
        if (key !== undefined && key !== chosen) onChoose(String(key));
      }}
      expandedKeys={expanded}
      onExpandedChange={(keys: Set<Key>) => onExpandedChange(new Set([...keys].map(String)))}
      className="flex flex-col outline-none"
    >
      {renderNode}
    </AriaTree>
  );
}

function renderNode(node: TreeNode) {
  return (
    <TreeItem
      id={node.id}
      textValue={node.name}
      hasChildItems={node.children !== undefined}
      className="data-selected:bg-sheet data-selected:border-accent hover:bg-faint data-focus-visible:outline-accent cursor-pointer rounded-lg border border-transparent outline-none data-focus-visible:outline-3 data-focus-visible:-outline-offset-2 data-selected:font-medium"
    >
      <TreeItemContent>
        {({ hasChildItems, isExpanded, level }) => (
          <div className="flex min-h-10 items-center gap-1.5 ps-[calc((var(--tree-item-level)-1)*1rem)] pe-2">
            {hasChildItems ? (
              <Button
                slot="chevron"
                className="inline-flex size-10 shrink-0 cursor-pointer items-center justify-center rounded-lg"
              >
                <ChevronRight aria-hidden="true" className={`size-4 ${isExpanded ? "rotate-90" : ""}`} />
              </Button>
            ) : (
              <span aria-hidden="true" className={`shrink-0 ${level > 1 ? "w-10" : "w-2"}`} />
            )}
            {node.icon}
            <span className="min-w-0 py-1 wrap-break-word">
              {node.name}
              {node.note === undefined ? null : <span className="text-soft text-sm font-normal"> {node.note}</span>}
            </span>
          </div>
        )}
      </TreeItemContent>
      <Collection items={node.children ?? []}>{renderNode}</Collection>
    </TreeItem>
  );
}
