/**
 * Keeps the focus near a line of a list that may go: call it before, and what it answers after. Then the first link or button has the
 * focus of the line after it, else of the one before, else of what the list stands in.
 */
export function neighbour(within: Element | null): () => void {
  const line = within?.closest("li");
  const near = line?.nextElementSibling ?? line?.previousElementSibling ?? line?.parentElement?.closest("li, section, [role=tabpanel]");
  const first = (of: Element | null | undefined) => of?.querySelector<HTMLElement>("a, button");
  return () => {
    if (within?.isConnected !== true) (first(near?.isConnected ? near : null) ?? document.querySelector<HTMLElement>("main h1"))?.focus();
    else if (document.activeElement === document.body) first(within)?.focus();
  };
}
