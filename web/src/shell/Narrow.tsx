import { useNavigate } from "@tanstack/react-router";
import { Menu as Lines } from "lucide-react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Button } from "../ui/Button";
import { LINE, OVER } from "../ui/field";
import type { Place } from "./places";

/** The places behind one button, where the screen is too narrow for them. */
export function Narrow({ places }: { places: readonly Place[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  return (
    <MenuTrigger>
      <Button kind="quiet" className="px-0 md:hidden" aria-label={t("app.main")}>
        <Lines aria-hidden="true" className="size-5" />
      </Button>
      <Popover className={OVER}>
        <Menu aria-label={t("app.main")} className="outline-none" onAction={(to) => void navigate({ to: to as Place[0] })}>
          {places.map(([to, words]) => (
            <MenuItem key={to} id={to} className={LINE}>
              {t(words)}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
