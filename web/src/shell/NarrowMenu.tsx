import { MenuItem } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { LINE } from "../ui/field";
import { MenuOver } from "../ui/MenuOver";
import type { Opened } from "../ui/menuButton";
import type { Place } from "./places";

/** What opens behind the button of `Narrow`. */
export function NarrowMenu({ label, places, onAction, ...opened }: Opened & { label: string; places: readonly Place[]; onAction: (to: string) => void }) {
  const { t } = useTranslation();
  return (
    <MenuOver {...opened} label={label} onAction={onAction}>
      {places.map(([to, words]) => (
        <MenuItem key={to} id={to} className={LINE}>
          {t(words)}
        </MenuItem>
      ))}
    </MenuOver>
  );
}
