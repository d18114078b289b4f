import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { UserComboBox } from "../users/UserComboBox";
import { Select } from "../../forms/Select";
import { activityNamesQuery } from "./activity";
import { CATEGORIES, PERIODS, type ActivityFilterValues } from "./filters";

const ALL = "all";

/** Filters of the log: class, group, category, user, period. */
export function ActivityFilters({
  filters,
  onChange,
}: {
  filters: ActivityFilterValues;
  onChange: (next: ActivityFilterValues) => void;
}) {
  const { t } = useTranslation();
  const known = useQuery(activityNamesQuery).data;
  const all = { id: ALL, name: t("app.all") };
  const groups =
    known?.groups.filter((group) => filters.classId === undefined || group.classId === filters.classId) ?? [];
  const choose = <K extends keyof ActivityFilterValues>(key: K, id: string): ActivityFilterValues => {
    const { [key]: _, ...rest } = filters;
    return id === ALL ? rest : { ...rest, [key]: id };
  };
  return (
    <div className="grid grid-cols-2 items-start gap-3 lg:grid-cols-5">
      <Select
        label={t("activity.class")}
        options={[all, ...(known?.classes ?? []).map(({ id, name }) => ({ id: id as string, name }))]}
        value={filters.classId ?? ALL}
        onChange={(id) => {
          const { groupId: _, ...rest } = choose("classId", id);
          onChange(rest);
        }}
      />
      <Select
        label={t("activity.group")}
        options={[all, ...groups.map((group) => ({ id: group.id as string, name: group.displayName ?? group.name }))]}
        value={filters.groupId ?? ALL}
        onChange={(id) => onChange(choose("groupId", id))}
      />
      <Select
        label={t("activity.about")}
        options={[all, ...CATEGORIES.map((id) => ({ id: id as string, name: t(`activity.category.${id}`) }))]}
        value={filters.category ?? ALL}
        onChange={(id) => onChange(choose("category", id))}
      />
      <Select
        label={t("activity.period")}
        options={[
          ...PERIODS.map((id) => ({ id: id as string, name: t(`activity.since.${id}`) })),
          { id: ALL, name: t("activity.since.ever") },
        ]}
        value={filters.period ?? ALL}
        onChange={(id) => onChange(choose("period", id))}
      />
      <div className="col-span-2 lg:col-span-1">
        <UserComboBox
          label={t("activity.person")}
          value={filters.userId ?? null}
          onChange={(id) => onChange(choose("userId", id ?? ALL))}
        />
      </div>
    </div>
  );
}
