import { Label, ProgressBar as AriaProgressBar } from "react-aria-components";

/** Progress bar; indeterminate without a share. */
export function ProgressBar({ label, share }: { label: string; share?: number | undefined }) {
  return (
    <AriaProgressBar value={(share ?? 0) * 100} isIndeterminate={share === undefined} className="flex flex-col gap-1">
      {({ percentage, valueText }) => (
        <>
          <span className="flex justify-between gap-4">
            <Label>{label}</Label>
            <span className="tabular-nums">{valueText}</span>
          </span>
          <span className="bg-faint h-3 overflow-hidden rounded-full">
            <span
              className={`bg-accent block h-full rounded-full ${share === undefined ? "w-1/3 animate-pulse" : ""}`}
              style={share === undefined ? {} : { width: `${percentage ?? 0}%` }}
            />
          </span>
        </>
      )}
    </AriaProgressBar>
  );
}
