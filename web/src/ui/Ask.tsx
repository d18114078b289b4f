import { Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTranslation } from "react-i18next";

import { Button } from "./Button";

interface Props {
  open: string;
  title: string;
  text: string;
  yes: string;
  isPending?: boolean;
  onYes: () => void;
}

/** A button that asks before it does something that is not easily undone; "Cancel" has the focus. */
export function Ask({ open, title, text, yes, isPending = false, onYes }: Props) {
  const { t } = useTranslation();
  return (
    <DialogTrigger>
      <Button isPending={isPending}>{open}</Button>
      <ModalOverlay className="fixed inset-0 z-30 grid place-items-center bg-black/50 p-4">
        <Modal className="bg-sheet w-full max-w-md rounded-xl p-5 shadow-xl">
          <Dialog role="alertdialog" className="flex flex-col gap-4 outline-none">
            {({ close }) => (
              <>
                <Heading slot="title" className="text-lg font-semibold">
                  {title}
                </Heading>
                <p>{text}</p>
                <p className="flex flex-wrap justify-end gap-2">
                  {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- a dialog has to begin somewhere, and nothing happens here */}
                  <Button autoFocus onPress={close}>
                    {t("ask.cancel")}
                  </Button>
                  <Button
                    kind="danger"
                    onPress={() => {
                      close();
                      onYes();
                    }}
                  >
                    {yes}
                  </Button>
                </p>
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
