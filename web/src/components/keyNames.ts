// Names of keyboard shortcuts, in ProseMirror's notation: `Mod-Shift-7`.
const APPLE: Record<string, string> = { Mod: "⌘", Alt: "⌥", Shift: "⇧" };

/** The parts of a shortcut as they are printed on the keys of this computer. */
export function keyNames(key: string, names: { control: string; shift: string }, isApple: boolean): string[] {
  return key.split("-").map((part) => {
    if (isApple && APPLE[part] !== undefined) return APPLE[part];
    if (part === "Mod") return names.control;
    if (part === "Shift") return names.shift;
    if (part === "ArrowUp") return "↑";
    if (part === "ArrowDown") return "↓";
    if (part === "ArrowLeft") return "←";
    if (part === "ArrowRight") return "→";
    return part.length === 1 ? part.toUpperCase() : part;
  });
}

/** A shortcut as text for tooltips and help. */
export const keyText = (key: string, names: { control: string; shift: string }): string => {
  const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
  return keyNames(key, names, isApple).join(isApple ? "" : "+");
};
