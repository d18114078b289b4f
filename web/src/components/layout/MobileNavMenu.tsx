import { MenuItem } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { OPTION } from "../../forms/fieldStyles";
import { MenuOver } from "../../ui/MenuOver";
import type { OpenMenu } from "../../hooks/useMenuButton";
import type { NavLink } from "./navigation";

/** What opens behind the button of `Narrow`. */
export function MobileNavMenu({ label, links, onAction, ...opened }: OpenMenu & { label: string; links: readonly NavLink[]; onAction: (to: string) => void }) {
  const { t } = useTranslation();
  return (
    <MenuOver {...opened} label={label} onAction={onAction}>
      {links.map(([to, words]) => (
        <MenuItem key={to} id={to} className={OPTION}>
          {t(words)}
        </MenuItem>
      ))}
    </MenuOver>
  );
}
