import { useTranslation } from "react-i18next";

import { lateness } from "../hooks/serverClock";

/** Returns a function that says how late something is: "8 min late". */
export function useLateText(): (seconds: number) => string {
  const { t } = useTranslation();
  return (seconds) => {
    const { unit, count } = lateness(seconds);
    return t(`late.${unit}`, { count });
  };
}
