import { useEffect, useRef } from "react";

/** A clear strip at the line of the pointer or the cursor; the rest of the paper is dimmed. */
export function ReadingRuler() {
  const ruler = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const desk = ruler.current?.parentElement;
    if (desk == null) return undefined;
    const place = (y: number) =>
      ruler.current?.style.setProperty("--ruler", `${y - desk.getBoundingClientRect().top + desk.scrollTop}px`);
    const onMove = ({ clientY }: PointerEvent) => place(clientY);
    const onSelection = () => {
      const range = document.getSelection();
      if (range === null || range.rangeCount === 0 || !desk.contains(range.focusNode)) return;
      const { top, height } = range.getRangeAt(0).getBoundingClientRect();
      if (height > 0) place(top + height / 2);
    };
    desk.addEventListener("pointermove", onMove);
    document.addEventListener("selectionchange", onSelection);
    return () => {
      desk.removeEventListener("pointermove", onMove);
      document.removeEventListener("selectionchange", onSelection);
    };
  }, []);
  return <div ref={ruler} aria-hidden="true" className="reading-ruler" />;
}
