import { useMutation } from "@tanstack/react-query";
import { ArrowDownAZ, Shuffle, Users } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Problem } from "../../api/client";
import { Button } from "../../components/Button";
import { Checkbox } from "../../forms/Checkbox";
import { NumberField } from "../../forms/NumberField";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Segmented } from "../../components/Segmented";
import { type CourseDetail, requestDivision, type Strategy, type Student } from "./courseGroups";
import { countGroups, splitEvenly, type Size, type Wish } from "./plan";
import { WishEditor } from "./WishEditor";

export interface DivisionSettings {
  size: Size;
  isLeftOut: boolean;
  wishes: readonly Wish[];
}

interface Props {
  course: CourseDetail;
  settings: DivisionSettings;
  onChange: (settings: DivisionSettings) => void;
  /** Ids of all students of the class, and of those who would be assigned now. */
  students: readonly Student[];
  present: readonly string[];
  /** Number of students who are in a group of this course already. */
  groupedCount: number;
  onGroups: (groups: string[][], announcement: string) => void;
}

/** Options for assigning the students, and three ways to lay out the cards. */
export function DivisionOptions({ course, settings, onChange, students, present, groupedCount, onGroups }: Props) {
  const { t } = useTranslation();
  const { size, isLeftOut, wishes } = settings;
  const count = countGroups(present.length, size);
  const set = (change: Partial<Size>) => onChange({ ...settings, size: { ...size, ...change } });
  const drawGroups = useMutation({
    mutationFn: (strategy: Strategy) => requestDivision(course, present, size, strategy, wishes),
    onSuccess: ({ groups, repeated }, strategy) =>
      onGroups(
        groups,
        [
          t("divide.laidOut", { count: groups.length, students: present.length }),
          strategy === "balanced" ? t("divide.repeated", { count: repeated }) : "",
        ]
          .filter(Boolean)
          .join(" "),
      ),
  });
  const byName = () => {
    const groups = splitEvenly(present, count);
    drawGroups.reset();
    onGroups(groups, t("divide.laidOut", { count: groups.length, students: present.length }));
  };
  const isNobodyPresent = present.length === 0;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Segmented
          label={t("divide.how")}
          value={size.by}
          onChange={(by) => set({ by })}
          options={[
            { id: "size", name: t("divide.bySize") },
            { id: "count", name: t("divide.byCount") },
          ]}
        />
        {size.by === "size" ? (
          <NumberField
            label={t("divide.size")}
            isLabelHidden
            minValue={1}
            maxValue={50}
            value={size.size}
            onChange={(value) => Number.isInteger(value) && set({ size: value })}
          />
        ) : (
          <NumberField
            label={t("divide.count")}
            isLabelHidden
            minValue={1}
            maxValue={100}
            value={size.count}
            onChange={(value) => Number.isInteger(value) && set({ count: value })}
          />
        )}
        <WishEditor
          students={students}
          wishes={wishes}
          onChange={(changed) => onChange({ ...settings, wishes: changed })}
        />
        <p className="ms-auto flex flex-wrap items-center gap-2">
          <Button kind="quiet" isDisabled={isNobodyPresent} onPress={byName}>
            <ArrowDownAZ aria-hidden="true" className="size-4.5" />
            {t("divide.byName")}
          </Button>
          <Button
            isDisabled={isNobodyPresent}
            isPending={drawGroups.isPending && drawGroups.variables === "balanced"}
            onPress={() => drawGroups.mutate("balanced")}
          >
            <Users aria-hidden="true" className="size-4.5" />
            {t("divide.mix")}
          </Button>
          <Button
            data-shuffle
            isDisabled={isNobodyPresent}
            isPending={drawGroups.isPending && drawGroups.variables === "random"}
            onPress={() => drawGroups.mutate("random")}
          >
            <Shuffle aria-hidden="true" className="size-4.5" />
            {t("divide.shuffle")}
          </Button>
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-x-6 text-sm">
        {size.by === "size" ? (
          <Checkbox isSelected={size.isEven} onChange={(isEven) => set({ isEven })}>
            {t("divide.even", { size: size.size })}
          </Checkbox>
        ) : null}
        <Checkbox isSelected={isLeftOut} onChange={(value) => onChange({ ...settings, isLeftOut: value })}>
          {t("divide.leaveOut", { count: groupedCount })}
        </Checkbox>
        <span className="text-soft ms-auto">
          {isNobodyPresent
            ? t(isLeftOut && groupedCount > 0 ? "divide.allPlaced" : "divide.nobody")
            : t("divide.would", { count, students: present.length })}
        </span>
      </div>
      {drawGroups.isError ? (
        isWishError(drawGroups.error) ? (
          <p role="alert" className="text-bad">
            {t("divide.cannot")}
          </p>
        ) : (
          <ErrorMessage problem={drawGroups.error} />
        )
      ) : null}
    </div>
  );
}

const isWishError = (problem: unknown): boolean =>
  problem instanceof Problem && problem.details.some((detail) => detail.path.startsWith("keep"));
