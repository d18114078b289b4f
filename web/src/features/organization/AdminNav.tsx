import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

const LINKS = [
  ["/admin", "admin.overview"],
  ["/admin/users", "admin.users"],
  ["/admin/import", "admin.import"],
  ["/admin/homerooms", "admin.homerooms"],
  ["/admin/subjects", "admin.subjects"],
  ["/admin/organisation", "admin.organisation"],
  ["/admin/deletions", "deletions.title"],
  ["/admin/sessions", "admin.sessions"],
  ["/admin/privacy", "admin.privacy"],
] as const;

/** Navigation between the screens of the administration; on narrow screens it scrolls horizontally. */
export function AdminNav() {
  const { t } = useTranslation();
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    const here = bar.current?.querySelector<HTMLElement>("[aria-current=page]");
    if (here && bar.current)
      bar.current.scrollLeft = here.offsetLeft - (bar.current.clientWidth - here.offsetWidth) / 2;
  }, []);
  return (
    <nav
      ref={bar}
      aria-label={t("admin.title")}
      className="border-faint relative -mt-4 mb-4 flex gap-x-5 overflow-x-auto border-b print:hidden"
    >
      {LINKS.map(([to, label]) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: true, includeSearch: false }}
          className="text-soft aria-[current=page]:text-ink hover:text-ink aria-[current=page]:border-accent inline-flex min-h-11 shrink-0 items-center border-b-3 border-transparent -outline-offset-3! hover:no-underline aria-[current=page]:font-medium"
        >
          {t(label)}
        </Link>
      ))}
    </nav>
  );
}
