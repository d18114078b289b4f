import { EllipsisVertical } from "lucide-react";
import type { ReactNode } from "react";
import { Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";
import { LINE, OVER } from "./field";

export interface Deed {
  id: string;
  name: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  onAction: () => void;
}

interface Props {
  /** What the deeds are done to, for whoever cannot see where the button stands. */
  label: string;
  deeds: readonly Deed[];
  /** What stands on the button; three dots otherwise. */
  children?: ReactNode;
  isPending?: boolean;
  /** Whether Tab comes by; not where many stand beside each other and arrow keys lead there. */
  isTabStop?: boolean;
  /** What all deeds have in common ("Move to"), above them. */
  heading?: string;
}

/** What else can be done, behind one button. */
export function More({ label, deeds, children, isPending = false, isTabStop = true, heading }: Props) {
  const { t } = useTranslation();
  return (
    <MenuTrigger>
      <Button kind={children === undefined ? "quiet" : "plain"} isPending={isPending} excludeFromTabOrder={!isTabStop} {...(children === undefined ? { "aria-label": t("app.more", { of: label }), className: "shrink-0 px-0" } : {})}>
        {children ?? <EllipsisVertical aria-hidden="true" className="size-5" />}
      </Button>
      <Popover className={OVER}>
        <Menu aria-label={label} className="outline-none" onAction={(key) => deeds.find((deed) => deed.id === key)?.onAction()}>
          {heading === undefined ? (
            deeds.map(line)
          ) : (
            <MenuSection>
              <Header className="text-soft px-3 py-1 text-sm">{heading}</Header>
              {deeds.map(line)}
            </MenuSection>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

const line = (deed: Deed) => (
  <MenuItem key={deed.id} id={deed.id} isDisabled={deed.isDisabled ?? false} className={`${LINE} ${deed.isDanger ? "text-bad" : ""}`}>
    {deed.name}
  </MenuItem>
);
