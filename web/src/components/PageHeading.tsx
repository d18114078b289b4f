import { type ReactNode, useEffect, useRef } from "react";

/** The h1 of a screen. Takes the focus when the screen opens, so that a screen reader begins there. */
export function PageHeading({ children, title }: { children: ReactNode; title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · groupwork`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
