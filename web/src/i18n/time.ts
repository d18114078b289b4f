// Formats moments in the reader's time zone and language with the Intl API.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { serverNow } from "../hooks/serverClock";
import { meQuery } from "../auth/session";

const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Whether the browser supports a time zone: an unknown name would break every screen that shows a time. */
export function isKnownZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== "";
  } catch {
    return false;
  }
}

/** The time zone of the user, else of the school, else of this device. */
export function useZone(): string {
  const { data: person } = useQuery(meQuery);
  return (
    [person?.timezone, person?.organization?.metadata?.timezone].find(
      (zone) => typeof zone === "string" && isKnownZone(zone),
    ) ?? browserZone
  );
}

/** The time zone of the school, in which its timetables are; else that of the user. */
export function useSchoolZone(): string {
  const { data: person } = useQuery(meQuery);
  const own = useZone();
  const zone = person?.organization?.metadata?.timezone;
  return typeof zone === "string" && isKnownZone(zone) ? zone : own;
}

/** Formatters: `moment` is short, `day` has no time, `full` has everything. Each takes ISO 8601. */
export function useTime() {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const language = i18n.language;
  const formatter = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, { timeZone: zone, ...options });
    return (at: string) => format.format(new Date(at));
  };
  const day = formatter({ dateStyle: "medium" });
  const clock = formatter({ timeStyle: "short" });
  const year = formatter({ year: "numeric" });
  const now = new Date(serverNow()).toISOString();
  const moment = (at: string) =>
    day(at) === day(now)
      ? t("app.today", { time: clock(at) })
      : year(at) === year(now)
        ? formatter({ weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })(at)
        : formatter({ dateStyle: "medium", timeStyle: "short" })(at);
  return { zone, language, day, clock, moment, full: formatter({ dateStyle: "full", timeStyle: "long" }) };
}
