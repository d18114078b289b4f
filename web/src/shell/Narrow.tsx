import { useNavigate } from "@tanstack/react-router";
import { Menu as Lines } from "lucide-react";
import { useTranslation } from "react-i18next";

import { MenuButton } from "../ui/More";
import type { Place } from "./places";

/** The places behind one button, where the screen is too narrow for them. */
export function Narrow({ places }: { places: readonly Place[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const deeds = places.map(([to, words]) => ({ id: to, name: t(words), onAction: () => void navigate({ to }) }));
  return (
    <MenuButton label={t("app.main")} name={t("app.main")} deeds={deeds} className="px-0 md:hidden">
      <Lines aria-hidden="true" className="size-5" />
    </MenuButton>
  );
}
