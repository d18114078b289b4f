import { Suspense, useEffect, useState } from "react";

import { prefetchWhenIdle } from "../../hooks/prefetchWhenIdle";
import type { Confirmation } from "../ConfirmDialog";
import { Button } from "../Button";
import { lazyPart } from "../lazyPart";

const loadDialog = () => import("../ConfirmDialog");
const ConfirmDialogContent = lazyPart(async () => (await loadDialog()).ConfirmDialogContent);

/** A button that asks for confirmation; "Cancel" has the initial focus. */
export function ConfirmButton({
  open,
  isPending = false,
  kind,
  ...question
}: Confirmation & { open: string; isPending?: boolean; kind?: "plain" | "danger" | "quiet" }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => prefetchWhenIdle(loadDialog), []);
  return (
    <>
      <Button isPending={isPending} aria-haspopup="dialog" onPress={() => setOpen(true)} {...(kind ? { kind } : {})}>
        {open}
      </Button>
      {isOpen ? <ConfirmDialog {...question} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** The confirmation without a button, for menu items for instance. */
export function ConfirmDialog(question: Confirmation & { onClose: () => void }) {
  return (
    <Suspense>
      <ConfirmDialogContent {...question} />
    </Suspense>
  );
}
