import { EllipsisVertical } from "lucide-react";
import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";

const fetchMenu = async () => ({ default: (await import("./MenuOver")).MenuOver });
const MenuOver = lazy(fetchMenu);

export interface Deed {
  id: string;
  name: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  /** What is said of the one of several that is in force ("chosen"). */
  chosen?: string | undefined;
  onAction: () => void;
}
/** A deed, or a line between them. */
export type DeedOrLine = Deed | "-";

interface Props {
  /** What the deeds are done to, for whoever cannot see where the button stands. */
  label: string;
  deeds: readonly DeedOrLine[];
  /** What stands on the button; three dots otherwise. */
  children?: ReactNode;
  isPending?: boolean;
  /** Whether Tab comes by; not where many stand beside each other and arrow keys lead there. */
  isTabStop?: boolean;
  /** What all deeds have in common ("Move to"), above them. */
  heading?: string;
}

/** What else can be done, behind one button. */
export function More({ label, deeds, children, isPending = false, isTabStop = true, heading }: Props) {
  const { t } = useTranslation();
  const isPlain = children !== undefined;
  return (
    <MenuButton
      label={label}
      deeds={deeds}
      heading={heading}
      kind={isPlain ? "plain" : "quiet"}
      isPending={isPending}
      isTabStop={isTabStop}
      {...(isPlain ? {} : { name: t("app.more", { of: label }), className: "shrink-0 px-0" })}
    >
      {children ?? <EllipsisVertical aria-hidden="true" className="size-5" />}
    </MenuButton>
  );
}

interface ButtonProps {
  /** The name of the menu. */
  label: string;
  /** The name of the button, where nothing that can be read stands on it. */
  name?: string;
  deeds: readonly DeedOrLine[];
  heading?: string | undefined;
  kind?: "plain" | "quiet";
  className?: string;
  isPending?: boolean;
  isTabStop?: boolean;
  children: ReactNode;
}

/** A button that opens a menu: by pressing it, or by an arrow key as in every menu. */
export function MenuButton({ label, name, deeds, heading, kind = "quiet", className, isPending = false, isTabStop = true, children }: ButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        ref={button}
        kind={kind}
        isPending={isPending}
        excludeFromTabOrder={!isTabStop}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPress={() => setOpen(true)}
        onHoverStart={() => void fetchMenu()}
        onFocus={() => void fetchMenu()}
        onKeyDown={(event) => {
          if (!isPending && (event.key === "ArrowDown" || event.key === "ArrowUp")) setOpen(true);
          else event.continuePropagation();
        }}
        {...(className === undefined ? {} : { className })}
        {...(name === undefined ? {} : { "aria-label": name })}
      >
        {children}
      </Button>
      {isOpen ? (
        <Suspense>
          <MenuOver button={button} label={label} deeds={deeds} heading={heading} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
