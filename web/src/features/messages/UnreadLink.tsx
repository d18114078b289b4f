import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Mail } from "../../components/base/icons";
import { meQuery } from "../../auth/session";
import { unreadCountQuery } from "./messages";

/** Link to the messages for the header, with the number of unread ones. */
export function UnreadLink() {
  const { t } = useTranslation();
  const cache = useQueryClient();
  // After sign-out the header stays visible a moment longer than the session.
  const { data: count = 0 } = useQuery({
    ...unreadCountQuery,
    enabled: () => cache.getQueryData(meQuery.queryKey) !== null,
  });
  const label = count > 0 ? t("messages.unread", { count }) : t("messages.title");
  return (
    <Link
      to="/messages"
      aria-label={label}
      title={label}
      className="text-ink inline-flex min-h-11 min-w-11 items-center justify-center gap-1 rounded-lg"
    >
      <Mail aria-hidden="true" className="size-5" />
      {count > 0 ? (
        <span className="bg-accent text-on-accent min-w-5 rounded-full px-1.5 text-center text-xs font-semibold">
          {count}
        </span>
      ) : null}
    </Link>
  );
}
