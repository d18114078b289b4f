import { lazy, Suspense, useState } from "react";

import type { Question } from "./Asked";
import { Button } from "./Button";

const fetchAsked = async () => ({ default: (await import("./Asked")).Asked });
const Opened = lazy(fetchAsked);

/** A button that asks before it does something that is not easily undone; "Cancel" has the focus. */
export function Ask({ open, isPending = false, kind, ...question }: Question & { open: string; isPending?: boolean; kind?: "plain" | "danger" | "quiet" }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        isPending={isPending}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPress={() => setOpen(true)}
        onHoverStart={() => void fetchAsked()}
        onFocus={() => void fetchAsked()}
        {...(kind ? { kind } : {})}
      >
        {open}
      </Button>
      {isOpen ? (
        <Suspense>
          <Opened {...question} onClose={() => setOpen(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
