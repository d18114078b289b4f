import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

interface Props {
  name: string;
  count?: number | undefined;
  isOpen?: boolean;
  /** Called on change, so that the content can be fetched when opened. */
  onOpen?: (isOpen: boolean) => void;
  children: ReactNode;
}

/** Collapsible content behind a title. */
export function Disclosure({ name, count, isOpen, onOpen, children }: Props) {
  return (
    <details
      className="border-faint group border-t"
      {...(isOpen ? { open: true } : {})}
      onToggle={(event) => onOpen?.(event.currentTarget.open)}
    >
      <summary className="flex min-h-11 cursor-pointer list-none items-center gap-2 font-medium [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden="true" className="size-4 shrink-0 group-open:rotate-90 rtl:-scale-x-100" />
        <span>{name}</span>
        {count === undefined ? null : <span className="text-soft tabular-nums">{count}</span>}
      </summary>
      <div className="flex flex-col gap-3 pb-4">{children}</div>
    </details>
  );
}
