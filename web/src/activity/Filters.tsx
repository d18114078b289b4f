import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { PersonSearch } from "../school/PersonSearch";
import { Choice } from "../ui/Choice";
import { names } from "./activity";
import { CATEGORIES, PERIODS, type Shown } from "./shown";

const ALL = "all";

/** What of the log is shown: class, group, sort of thing, person, period. */
export function Filters({ shown, show }: { shown: Shown; show: (next: Shown) => void }) {
  const { t } = useTranslation();
  const known = useQuery(names).data;
  const all = { id: ALL, name: t("app.all") };
  const groups = known?.groups.filter((group) => shown.classId === undefined || group.classId === shown.classId) ?? [];
  const one = <K extends keyof Shown>(key: K, id: string): Shown => {
    const { [key]: _, ...rest } = shown;
    return id === ALL ? rest : { ...rest, [key]: id };
  };
  return (
    <div className="grid grid-cols-2 items-start gap-3 lg:grid-cols-5">
      <Choice
        label={t("activity.class")}
        options={[all, ...(known?.classes ?? []).map(({ id, name }) => ({ id: id as string, name }))]}
        value={shown.classId ?? ALL}
        onChange={(id) => {
          const { groupId: _, ...rest } = one("classId", id);
          show(rest);
        }}
      />
      <Choice
        label={t("activity.group")}
        options={[all, ...groups.map((group) => ({ id: group.id as string, name: group.displayName ?? group.name }))]}
        value={shown.groupId ?? ALL}
        onChange={(id) => show(one("groupId", id))}
      />
      <Choice
        label={t("activity.about")}
        options={[all, ...CATEGORIES.map((id) => ({ id: id as string, name: t(`activity.category.${id}`) }))]}
        value={shown.category ?? ALL}
        onChange={(id) => show(one("category", id))}
      />
      <Choice
        label={t("activity.period")}
        options={[...PERIODS.map((id) => ({ id: id as string, name: t(`activity.since.${id}`) })), { id: ALL, name: t("activity.since.ever") }]}
        value={shown.period ?? ALL}
        onChange={(id) => show(one("period", id))}
      />
      <div className="col-span-2 lg:col-span-1">
        <PersonSearch label={t("activity.person")} value={shown.userId ?? null} onChange={(id) => show(one("userId", id ?? ALL))} />
      </div>
    </div>
  );
}
