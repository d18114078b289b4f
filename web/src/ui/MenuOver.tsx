import { Check } from "lucide-react";
import type { RefObject } from "react";
import { Header, Menu, MenuItem, MenuSection, Popover, Separator } from "react-aria-components";

import { LINE, OVER } from "./field";
import type { Deed, DeedOrLine } from "./More";

interface Props {
  /** The button it belongs to: it stands beside it, and the focus goes back there. */
  button: RefObject<HTMLButtonElement | null>;
  label: string;
  deeds: readonly DeedOrLine[];
  heading?: string | undefined;
  onClose: () => void;
}

/** The open menu of a button. It is fetched when somebody first comes near such a button: most visits open none. */
export function MenuOver({ button, label, deeds, heading, onClose }: Props) {
  const act = (key: string) => deeds.find((deed): deed is Deed => deed !== "-" && deed.id === key)?.onAction();
  return (
    <Popover trigger="MenuTrigger" triggerRef={button} isOpen onOpenChange={(isOpen) => isOpen || onClose()} placement="bottom start" className={`${OVER} min-w-48`}>
      {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- who opens a menu wants to be in it */}
      <Menu aria-label={label} autoFocus="first" onClose={onClose} className="outline-none" onAction={(key) => act(String(key))}>
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
  );
}

const line = (deed: DeedOrLine, index: number) =>
  deed === "-" ? (
    <Separator key={`after ${index}`} className="bg-faint my-1 h-px" />
  ) : (
    <MenuItem key={deed.id} id={deed.id} textValue={deed.name} isDisabled={deed.isDisabled ?? false} className={`${LINE} ${deed.isDanger ? "text-bad" : ""}`}>
      {deed.name}
      {deed.chosen === undefined ? null : <Check role="img" aria-label={deed.chosen} className="text-accent ms-auto size-4" />}
    </MenuItem>
  );
