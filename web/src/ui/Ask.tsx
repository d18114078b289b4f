import { Suspense, useEffect, useState } from "react";

import { prefetchWhenIdle } from "../hooks/prefetchWhenIdle";
import type { Question } from "./Asking";
import { Button } from "./Button";
import { part } from "./part";

const load = () => import("./Asking");
const Asking = part(async () => (await load()).Asking);

/** A button that asks before it does something that is not easily undone; "Cancel" has the focus. */
export function Ask({ open, isPending = false, kind, ...question }: Question & { open: string; isPending?: boolean; kind?: "plain" | "danger" | "quiet" }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => prefetchWhenIdle(load), []);
  return (
    <>
      <Button isPending={isPending} aria-haspopup="dialog" onPress={() => setOpen(true)} {...(kind ? { kind } : {})}>
        {open}
      </Button>
      {isOpen ? <Asked {...question} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

/** The same question where no button stands beside it, after a choice in a menu for instance. */
export function Asked(question: Question & { onClose: () => void }) {
  return (
    <Suspense>
      <Asking {...question} />
    </Suspense>
  );
}
