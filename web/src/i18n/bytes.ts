import { useTranslation } from "react-i18next";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** Formats an amount of bytes in a suitable unit and in the given language. */
export function formatBytes(amount: number, language: string): string {
  const step = amount < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(amount) / 3));
  const format = new Intl.NumberFormat(language, {
    style: "unit",
    unit: UNITS[step] ?? "byte",
    unitDisplay: step === 0 ? "long" : "short",
    maximumFractionDigits: step < 2 ? 0 : 1,
  });
  return format.format(amount / 1000 ** step);
}

/** Returns `formatBytes` bound to the reader's language. */
export function useFormatBytes(): (amount: number) => string {
  const { i18n } = useTranslation();
  return (amount) => formatBytes(amount, i18n.language);
}
