import { MenuItem } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { OPTION } from "../base/fieldStyles";
import { MenuPopover } from "../MenuPopover";
import type { OpenMenu } from "../../hooks/useMenuButton";
import type { NavLink } from "./navigation";

/** Content of the menu of `MobileNav`. */
export function MobileNavMenu({
  label,
  links,
  onAction,
  ...opened
}: OpenMenu & { label: string; links: readonly NavLink[]; onAction: (to: string) => void }) {
  const { t } = useTranslation();
  return (
    <MenuPopover {...opened} label={label} onAction={onAction}>
      {links.map(([to, name]) => (
        <MenuItem key={to} id={to} className={OPTION}>
          {t(name)}
        </MenuItem>
      ))}
    </MenuPopover>
  );
}
