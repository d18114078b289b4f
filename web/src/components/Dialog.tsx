import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";

interface Props {
  title: string;
  isOpen?: boolean;
  onOpenChange?: (isOpen: boolean) => void;
  /** "alertdialog" for actions that delete or lock something. */
  role?: "dialog" | "alertdialog";
  isWide?: boolean;
  /** Hides the page behind it completely. */
  isOpaque?: boolean;
  children: (close: () => void) => ReactNode;
}

/** Modal dialog. Inside a `DialogTrigger` it is opened by its button, else by `isOpen`. Escape closes it. */
export function Dialog({
  title,
  isOpen,
  onOpenChange,
  role = "dialog",
  isWide = false,
  isOpaque = false,
  children,
}: Props) {
  return (
    <ModalOverlay
      isDismissable={role === "dialog"}
      {...(isOpen === undefined ? {} : { isOpen })}
      {...(onOpenChange === undefined ? {} : { onOpenChange })}
      className={`fixed inset-0 z-30 grid place-items-center p-2 sm:p-4 ${isOpaque ? "bg-page" : "bg-black/50"}`}
    >
      <Modal
        className={`bg-sheet max-h-full w-full overflow-y-auto rounded-xl p-4 shadow-xl sm:p-5 ${isWide ? "max-w-3xl" : "max-w-md"}`}
      >
        <AriaDialog role={role} className="flex flex-col gap-4 outline-none">
          {({ close }) => (
            <>
              <Heading slot="title" className="text-lg font-semibold">
                {title}
              </Heading>
              {children(close)}
            </>
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
