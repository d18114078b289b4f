import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";

import { client, unwrap } from "../../api/client";
import { useFormatBytes } from "../../i18n/bytes";
import { queryKeys } from "../../api/queryKeys";
import { buttonClass } from "../../components/Button";
import { Time } from "../../components/base/Time";

/** Poll interval while the list is visible; no event announces late saves. */
const POLL_INTERVAL_MS = 30_000;

/** Saves that arrived after their documents were deleted, of one class or of all. Renders nothing when there are none. */
export function LateSaves({ classId }: { classId?: string }) {
  const { t } = useTranslation();
  const bytes = useFormatBytes();
  const found = useQuery({
    queryKey: queryKeys.document.late(classId),
    queryFn: () =>
      unwrap(client.GET("/workrooms/late-texts", { params: { query: classId === undefined ? {} : { classId } } })),
    refetchInterval: POLL_INTERVAL_MS,
  });
  const texts = found.data ?? [];
  if (texts.length === 0) return null;
  return (
    <section aria-label={t("classes.late.title")} className="border-warn flex flex-col gap-2 rounded-xl border p-4">
      <h2 className="font-semibold">{t("classes.late.title")}</h2>
      <p className="text-soft max-w-prose">{t("classes.late.text")}</p>
      <ul className="divide-faint flex flex-col divide-y">
        {texts.map((text) => {
          const name = `${text.title}.${text.fileExtension}`;
          return (
            <li key={text.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
              <span className="min-w-0 grow">
                <span className="font-medium wrap-break-word">{name}</span>{" "}
                <span className="text-soft">
                  {classId === undefined
                    ? t("classes.late.placeClass", { group: text.groupName, name: text.className })
                    : text.groupName}{" "}
                  · {bytes(text.size)}
                </span>
                <br />
                <span className="text-soft text-sm">
                  {text.savedBy === null ? null : `${text.savedBy.name} · `}
                  <Time at={text.receivedAt} /> · {t("classes.late.until")} <Time at={text.expiresAt} />
                </span>
              </span>
              <a
                className={buttonClass()}
                href={`/api/workrooms/late-texts/${text.id}/download`}
                download={name}
                aria-label={t("classes.late.download", { name })}
              >
                <Download aria-hidden="true" className="size-4" /> {t("room.download")}
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
