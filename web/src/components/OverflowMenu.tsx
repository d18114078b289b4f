import { EllipsisVertical } from "lucide-react";
import { type ReactNode, Suspense } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";
import { useMenuButton } from "../hooks/useMenuButton";
import { lazyPart } from "./lazyPart";

const loadMenu = () => import("./OverflowMenuPopover");
const OverflowMenuPopover = lazyPart(async () => (await loadMenu()).OverflowMenuPopover);

export interface MenuAction {
  id: string;
  name: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  onAction: () => void;
}

interface Props {
  /** What the deeds are done to, for whoever cannot see where the button stands. */
  label: string;
  actions: readonly MenuAction[];
  /** What stands on the button; three dots otherwise. */
  children?: ReactNode;
  isPending?: boolean;
  /** Whether Tab comes by; not where many stand beside each other and arrow keys lead there. */
  isTabStop?: boolean;
  /** What all deeds have in common ("Move to"), above them. */
  heading?: string;
}

/** What else can be done, behind one button. */
export function OverflowMenu({ label, actions, children, isPending = false, isTabStop = true, heading }: Props) {
  const { t } = useTranslation();
  const { button, opened } = useMenuButton(loadMenu);
  return (
    <>
      <Button
        {...button}
        kind={children === undefined ? "quiet" : "plain"}
        isPending={isPending}
        excludeFromTabOrder={!isTabStop}
        {...(children === undefined ? { "aria-label": t("app.more", { of: label }), className: "shrink-0 px-0" } : {})}
      >
        {children ?? <EllipsisVertical aria-hidden="true" className="size-5" />}
      </Button>
      {opened ? (
        <Suspense>
          <OverflowMenuPopover {...opened} label={label} actions={actions} heading={heading} />
        </Suspense>
      ) : null}
    </>
  );
}
