import { Header, MenuItem, MenuSection } from "react-aria-components";

import { OPTION } from "../forms/fieldStyles";
import { MenuOver } from "./MenuOver";
import type { OpenMenu } from "../hooks/useMenuButton";
import type { Deed } from "./More";

/** What opens behind the button of `More`. */
export function MoreMenu({ label, deeds, heading, ...opened }: OpenMenu & { label: string; deeds: readonly Deed[]; heading?: string | undefined }) {
  return (
    <MenuOver {...opened} label={label} onAction={(id) => deeds.find((deed) => deed.id === id)?.onAction()}>
      {heading === undefined ? (
        deeds.map(line)
      ) : (
        <MenuSection>
          <Header className="text-soft px-3 py-1 text-sm">{heading}</Header>
          {deeds.map(line)}
        </MenuSection>
      )}
    </MenuOver>
  );
}

const line = (deed: Deed) => (
  <MenuItem key={deed.id} id={deed.id} isDisabled={deed.isDisabled ?? false} className={`${OPTION} ${deed.isDanger ? "text-bad" : ""}`}>
    {deed.name}
  </MenuItem>
);
