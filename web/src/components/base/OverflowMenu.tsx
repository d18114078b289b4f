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
  /** The actions; a function is called when the menu opens, for menus of many rows. */
  actions: readonly MenuAction[] | (() => readonly MenuAction[]);
  /** Content of the button; three dots by default. */
  children?: ReactNode;
  isPending?: boolean;
  /** Whether the button is a tab stop; false in composite widgets where arrow keys reach it. */
  isTabStop?: boolean;
  /** Heading above the actions ("Move to"). */
  heading?: string;
  /** Whether the button is a chip of a row. */
  isChip?: boolean;
}

/** Menu of further actions behind one button. */
export function OverflowMenu({
  label,
  actions,
  children,
  isPending = false,
  isTabStop = true,
  heading,
  isChip = false,
}: Props) {
  const { t } = useTranslation();
  const { button, opened } = useMenuButton(loadMenu);
  return (
    <>
      <Button
        {...button}
        kind={children === undefined ? "quiet" : "plain"}
        {...(isChip && children !== undefined
          ? { className: "min-h-8! rounded-full! ps-1! pe-2.5! gap-1.5! font-normal" }
          : {})}
        isPending={isPending}
        excludeFromTabOrder={!isTabStop}
        {...(children === undefined ? { "aria-label": t("app.more", { of: label }), className: "shrink-0 px-0" } : {})}
      >
        {children ?? <EllipsisVertical aria-hidden="true" className="size-5" />}
      </Button>
      {opened ? (
        <Suspense>
          <OverflowMenuPopover
            {...opened}
            label={label}
            actions={typeof actions === "function" ? actions() : actions}
            heading={heading}
          />
        </Suspense>
      ) : null}
    </>
  );
}
