import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { UserComboBox } from "../users/UserComboBox";
import { OptionalSelect } from "../../forms/Select";
import { activityNamesQuery } from "./activity";
import { CATEGORIES, PERIODS, type ActivityFilterValues } from "./filters";

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
  const groups =
    known?.groups.filter((group) => filters.classId === undefined || group.classId === filters.classId) ?? [];
  const choose = <K extends keyof ActivityFilterValues>(key: K, id: string | null): ActivityFilterValues => {
    const { [key]: _, ...rest } = filters;
    return id === null ? rest : { ...rest, [key]: id };
  };
  return (
    <div className="grid grid-cols-2 items-start gap-3 lg:grid-cols-5">
      <OptionalSelect
        label={t("activity.class")}
        none={t("app.all")}
        options={(known?.classes ?? []).map(({ id, name }) => ({ id: id as string, name }))}
        value={filters.classId ?? null}
        onChange={(id) => {
          const { groupId: _, ...rest } = choose("classId", id);
          onChange(rest);
        }}
      />
      <OptionalSelect
        label={t("activity.group")}
        none={t("app.all")}
        options={groups.map((group) => ({ id: group.id as string, name: group.displayName ?? group.name }))}
        value={filters.groupId ?? null}
        onChange={(id) => onChange(choose("groupId", id))}
      />
      <OptionalSelect
        label={t("activity.about")}
        none={t("app.all")}
        options={CATEGORIES.map((id) => ({ id: id as string, name: t(`activity.category.${id}`) }))}
        value={filters.category ?? null}
        onChange={(id) => onChange(choose("category", id))}
      />
      <OptionalSelect
        label={t("activity.period")}
        none={t("activity.since.ever")}
        options={PERIODS.map((id) => ({ id: id as string, name: t(`activity.since.${id}`) }))}
        value={filters.period ?? null}
        onChange={(id) => onChange(choose("period", id))}
      />
      <div className="col-span-2 lg:col-span-1">
        <UserComboBox
          label={t("activity.person")}
          value={filters.userId ?? null}
          onChange={(id) => onChange(choose("userId", id))}
        />
      </div>
    </div>
  );
}
