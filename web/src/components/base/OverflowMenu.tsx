import { EllipsisVertical } from "lucide-react";
import { type ReactNode, Suspense } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../Button";
import { useMenuButton } from "../../hooks/useMenuButton";
import { lazyPart } from "../lazyPart";

const loadMenu = () => import("../OverflowMenuPopover");
const OverflowMenuPopover = lazyPart(async () => (await loadMenu()).OverflowMenuPopover);

export interface MenuAction {
  id: string;
  name: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  onAction: () => void;
}

interface Props {
  /** Accessible name of the object of the actions. */
  label: string;
  actions: readonly MenuAction[];
  /** Content of the button; three dots by default. */
  children?: ReactNode;
  isPending?: boolean;
  /** Whether the button is a tab stop; false in composite widgets where arrow keys reach it. */
  isTabStop?: boolean;
  /** Heading above the actions ("Move to"). */
  heading?: string;
}

/** Menu of further actions behind one button. */
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
