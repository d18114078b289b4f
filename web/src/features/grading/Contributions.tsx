import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { comparePeople } from "../../i18n/names";
import { Disclosure } from "../../components/Disclosure";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { contributionsQuery } from "./work";

/** Users who opened the documents of the group and saved text in them. Sorted by name, not by amount. */
export function Contributions({ groupId }: { groupId: string }) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const found = useQuery({ ...contributionsQuery(groupId), enabled: isOpen });
  const sorted = found.data?.toSorted((one, other) => comparePeople(one.name, other.name));
  return (
    <Disclosure name={t("work.who")} onOpen={setOpen}>
      {found.isPending && isOpen ? <Skeleton count={1} /> : null}
      {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
      <ul className="flex flex-col gap-3">
        {sorted?.map((one) => (
          <li key={one.userId}>
            <p>
              <strong>{one.name}</strong>
              {one.isMember ? "" : ` (${t("work.someone")})`}
            </p>
            <p className="text-soft text-sm">
              {one.lastEditedAt === null ? (
                t("work.wroteNothing")
              ) : (
                <>
                  {t("work.minutes", { count: one.minutes })} · {t("work.saves", { count: one.saves })} ·{" "}
                  {t("work.lastWrote")} <Time at={one.lastEditedAt} />
                  {one.characters === null ? null : (
                    <> · {t("work.characters", { count: one.characters, share: one.share ?? 0 })}</>
                  )}
                </>
              )}
            </p>
            {one.documents.length > 1 ? (
              <ul className="text-soft ps-3 text-sm">
                {one.documents.map((document) => (
                  <li key={document.documentId}>
                    {document.title}: {t("work.minutes", { count: document.minutes })} ·{" "}
                    {t("work.saves", { count: document.saves })}
                    {document.characters === null ? null : (
                      <> · {t("work.characters", { count: document.characters, share: document.share ?? 0 })}</>
                    )}
                  </li>
                ))}
              </ul>
            ) : null}
          </li>
        ))}
      </ul>
      <p className="text-soft text-sm">{t("work.whoHint")}</p>
    </Disclosure>
  );
}
