import { useNavigate } from "@tanstack/react-router";
import { Menu as Lines } from "lucide-react";
import { Suspense } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../Button";
import { useMenuButton } from "../../hooks/useMenuButton";
import type { NavLink } from "./navigation";
import { lazyPart } from "../lazyPart";

const loadMenu = () => import("./MobileNavMenu");
const MobileNavMenu = lazyPart(async () => (await loadMenu()).MobileNavMenu);

/** Navigation menu for narrow screens. */
export function MobileNav({ links }: { links: readonly NavLink[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { button, opened } = useMenuButton(loadMenu);
  const label = t("app.main");
  return (
    <>
      <Button {...button} kind="quiet" className="-ms-2.5 px-0 md:hidden" aria-label={label}>
        <Lines aria-hidden="true" className="size-5" />
      </Button>
      {opened ? (
        <Suspense>
          <MobileNavMenu
            {...opened}
            label={label}
            links={links}
            onAction={(to) => void navigate({ to: to as NavLink[0] })}
          />
        </Suspense>
      ) : null}
    </>
  );
}
