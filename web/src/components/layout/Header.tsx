import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { GlobalShortcuts } from "../../features/shortcuts/GlobalShortcuts";
import type { ConnectionStatus } from "../../api/realtime";
import type { Me } from "../../auth/session";
import { UnreadLink } from "../../features/messages/UnreadLink";
import { AccountButton } from "./AccountButton";
import { MobileNav } from "./MobileNav";
import { linksFor } from "./navigation";

/** Header of every screen: school, navigation, connection status, account. */
export function Header({ person, connection }: { person: Me; connection: ConnectionStatus }) {
  const { t } = useTranslation();
  const links = linksFor(person);
  return (
    <header className="bg-sheet border-faint z-10 border-b tall:sticky tall:top-0">
      <div className="page-grid flex items-center gap-x-1 sm:gap-x-4">
        {links.length === 0 ? null : <MobileNav links={links} />}
        <Link to="/" className="text-ink flex min-h-13 min-w-0 items-center gap-2 font-semibold hover:no-underline">
          {/* The icon of the page (public/icon.svg), inlined: as an image it would add a request to every first load. */}
          <svg viewBox="0 0 32 32" aria-hidden="true" className="hidden size-6 sm:block">
            <rect width="32" height="32" rx="8" fill="#3450a1" />
            <path d="M17 12a4 4 0 0 1 8 0 4 4 0 0 1-8 0" fill="#b9c8ff" />
            <path
              d="M7 12a4 4 0 0 1 8 0 4 4 0 0 1-8 0M5 25c0-4 3-6.500 6-6.500s6 2.500 6 6.500zM15 25c0-4 3-6.500 6-6.500s6 2.500 6 6.500z"
              fill="#fff"
            />
          </svg>
          <span className="truncate">{person.organization?.name ?? t("app.name")}</span>
        </Link>
        <nav aria-label={t("app.main")} className="hidden self-stretch md:flex">
          {links.map(([to, label]) => (
            <Link
              key={to}
              to={to}
              // The page of one group is not a part of the list.
              activeOptions={{ exact: to === "/groups" }}
              className="text-soft aria-[current=page]:text-ink hover:text-ink aria-[current=page]:border-accent inline-flex min-h-13 items-center border-b-3 border-transparent px-3 pt-[3px] hover:no-underline aria-[current=page]:font-medium"
            >
              {t(label)}
            </Link>
          ))}
        </nav>
        <span className="ms-auto" />
        <ConnectionState connection={connection} />
        <UnreadLink />
        <GlobalShortcuts person={person} />
        <AccountButton person={person} />
      </div>
    </header>
  );
}

/** Status of the realtime connection. Narrow screens show text only when it is not live. */
function ConnectionState({ connection }: { connection: ConnectionStatus }) {
  const { t } = useTranslation();
  const text = { live: t("line.live"), connecting: t("line.connecting"), offline: t("line.offline") };
  return (
    <output
      className={`flex items-center gap-1 text-sm ${connection === "offline" ? "text-bad font-medium" : "text-soft"}`}
    >
      <svg
        aria-hidden="true"
        viewBox="0 0 10 10"
        className={`size-2.5 shrink-0 ${connection === "live" ? "text-good" : ""}`}
      >
        <circle
          cx="5"
          cy="5"
          r="4"
          fill={connection === "live" ? "currentColor" : "none"}
          stroke="currentColor"
          strokeWidth="1.5"
        />
      </svg>
      <span className={connection === "offline" ? "" : "sr-only sm:not-sr-only"}>{text[connection]}</span>
    </output>
  );
}
