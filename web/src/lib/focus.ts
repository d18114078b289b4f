/** What should have the focus when this line of a list is gone: the first link or button of the line after it, else of the one before. */
export function neighbour(within: Element | null): () => void {
  const line = within?.closest("li");
  const near = line?.nextElementSibling ?? line?.previousElementSibling;
  return () => {
    const goal = near?.querySelector<HTMLElement>("a, button") ?? document.querySelector<HTMLElement>("main h1");
    goal?.focus();
  };
}
