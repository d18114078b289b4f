import { useNavigate } from "@tanstack/react-router";
import { Menu as Lines } from "lucide-react";
import { Suspense } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../ui/Button";
import { useMenuButton } from "../ui/menuButton";
import type { Place } from "./places";
import { part } from "../ui/part";

const load = () => import("./NarrowMenu");
const NarrowMenu = part(async () => (await load()).NarrowMenu);

/** The places behind one button, where the screen is too narrow for them. */
export function Narrow({ places }: { places: readonly Place[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { button, opened } = useMenuButton(load);
  const label = t("app.main");
  return (
    <>
      <Button {...button} kind="quiet" className="px-0 md:hidden" aria-label={label}>
        <Lines aria-hidden="true" className="size-5" />
      </Button>
      {opened ? (
        <Suspense>
          <NarrowMenu {...opened} label={label} places={places} onAction={(to) => void navigate({ to: to as Place[0] })} />
        </Suspense>
      ) : null}
    </>
  );
}
