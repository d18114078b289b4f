import { type LucideIcon } from "lucide-react";
import { Button, ToggleButton, Tooltip, TooltipTrigger } from "react-aria-components";

import "./toolbarButton.css";

export const TOOL =
  "tool inline-flex h-9 min-w-9 shrink-0 cursor-pointer items-center justify-center gap-1.5 rounded-lg px-2 disabled:cursor-default disabled:opacity-40";

interface Props {
  icon: LucideIcon;
  label: string;
  /** The shortcut as text. */
  keys?: string | undefined;
  isSelected?: boolean | undefined;
  isDisabled?: boolean;
  /** A number next to the icon, which the label contains. */
  badge?: number;
  onPress: () => void;
}

/** An icon of a toolbar with its name and shortcut as a tooltip. With `isSelected` it is a toggle. */
export function ToolbarButton({ icon: Icon, label, keys, isSelected, isDisabled = false, badge = 0, onPress }: Props) {
  const icon = (
    <>
      <Icon aria-hidden="true" className="size-5" strokeWidth={1.75} />
      {badge === 0 ? null : (
        <span className="bg-accent text-on-accent min-w-5 rounded-full px-1.5 text-center text-xs font-semibold">
          {badge}
        </span>
      )}
    </>
  );
  const common = { "aria-label": label, isDisabled, className: TOOL, preventFocusOnPress: true } as const;
  return (
    <TooltipTrigger delay={600}>
      {isSelected === undefined ? (
        <Button {...common} onPress={onPress}>
          {icon}
        </Button>
      ) : (
        <ToggleButton {...common} isSelected={isSelected} onChange={onPress}>
          {icon}
        </ToggleButton>
      )}
      <Tooltip className="tooltip" offset={6}>
        {label}
        {keys === undefined ? null : <kbd>{keys}</kbd>}
      </Tooltip>
    </TooltipTrigger>
  );
}

export const Separator = () => <span aria-hidden="true" className="tool-separator" />;
