import { useTranslation } from "react-i18next";

const BROWSERS = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
] as const;
const SYSTEMS = [
  [/CrOS/, "ChromeOS"],
  [/Android/, "Android"],
  [/iPad|iPhone/, "iOS"],
  [/Mac OS X/, "macOS"],
  [/Windows/, "Windows"],
  [/Linux/, "Linux"],
] as const;

/** Parses browser and operating system from a user agent. */
export function parseUserAgent(agent: string): { program: string | undefined; system: string | undefined } {
  const first = (names: readonly (readonly [RegExp, string])[]) => names.find(([sign]) => sign.test(agent))?.[1];
  return { program: first(BROWSERS), system: first(SYSTEMS) };
}

/** Returns a function that renders them as text. */
export function useUserAgentText(): (agent: string | null) => string {
  const { t } = useTranslation();
  return (agent) => {
    const found = parseUserAgent(agent ?? "");
    if (found.program !== undefined && found.system !== undefined)
      return t("me.programOn", { program: found.program, system: found.system });
    return found.program ?? (agent ? agent.slice(0, 60) : t("me.unknown"));
  };
}
