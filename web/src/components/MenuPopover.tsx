import type { ReactNode } from "react";
import { Menu, Popover } from "react-aria-components";

import { POPOVER } from "./base/fieldStyles";
import type { OpenMenu } from "../hooks/useMenuButton";

interface Props extends OpenMenu {
  label: string;
  onAction: (id: string) => void;
  children: ReactNode;
}

/** Popover menu at its trigger button. */
export function MenuPopover({ trigger, focus, close, label, onAction, children }: Props) {
  return (
    <Popover triggerRef={trigger} isOpen onOpenChange={(isOpen) => isOpen || close()} className={`${POPOVER} min-w-48`}>
      <Menu
        aria-label={label}
        autoFocus={focus}
        className="outline-none"
        onAction={(key) => onAction(String(key))}
        onClose={close}
      >
        {children}
      </Menu>
    </Popover>
  );
}
