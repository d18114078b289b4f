import { Header, MenuItem, MenuSection } from "react-aria-components";

import { OPTION } from "./base/fieldStyles";
import { MenuPopover } from "./MenuPopover";
import type { OpenMenu } from "../hooks/useMenuButton";
import type { MenuAction } from "./base/OverflowMenu";

/** Content of the menu of `OverflowMenu`. */
export function OverflowMenuPopover({
  label,
  actions,
  heading,
  ...opened
}: OpenMenu & { label: string; actions: readonly MenuAction[]; heading?: string | undefined }) {
  return (
    <MenuPopover {...opened} label={label} onAction={(id) => actions.find((action) => action.id === id)?.onAction()}>
      {heading === undefined ? (
        actions.map(menuItem)
      ) : (
        <MenuSection>
          <Header className="text-soft px-3 py-1 text-sm">{heading}</Header>
          {actions.map(menuItem)}
        </MenuSection>
      )}
    </MenuPopover>
  );
}

const menuItem = (action: MenuAction) => (
  <MenuItem
    key={action.id}
    id={action.id}
    isDisabled={action.isDisabled ?? false}
    className={`${OPTION} ${action.isDanger ? "text-bad" : ""}`}
  >
    {action.name}
  </MenuItem>
);
