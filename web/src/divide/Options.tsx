import { useMutation } from "@tanstack/react-query";
import { ArrowDownAZ, Shuffle, Users } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Problem } from "../api/client";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { Count } from "../ui/Count";
import { Problems } from "../ui/Problems";
import { Radios } from "../ui/Radios";
import { type CourseDetail, divided, type Strategy, type Student } from "./class";
import { howMany, inOrder, type Size, type Wish } from "./divide";
import { Wishes } from "./Wishes";

export interface Settings {
  size: Size;
  isLeftOut: boolean;
  wishes: readonly Wish[];
}

interface Props {
  of: CourseDetail;
  settings: Settings;
  onChange: (settings: Settings) => void;
  /** Everybody in the class, and those who would be divided now. */
  students: readonly Student[];
  who: readonly string[];
  /** How many are in a group of this course already. */
  placed: number;
  onGroups: (groups: string[][], said: string) => void;
}

/** How the class is divided: the questions, and three ways to lay out the cards. */
export function Options({ of, settings, onChange, students, who, placed, onGroups }: Props) {
  const { t } = useTranslation();
  const { size, isLeftOut, wishes } = settings;
  const count = howMany(who.length, size);
  const set = (change: Partial<Size>) => onChange({ ...settings, size: { ...size, ...change } });
  const lots = useMutation({
    mutationFn: (strategy: Strategy) => divided(of, who, size, strategy, wishes),
    onSuccess: ({ groups, repeated }, strategy) =>
      onGroups(groups, [t("divide.laidOut", { count: groups.length, students: who.length }), strategy === "balanced" ? t("divide.repeated", { count: repeated }) : ""].filter(Boolean).join(" ")),
  });
  const byName = () => {
    const groups = inOrder(who, count);
    lots.reset();
    onGroups(groups, t("divide.laidOut", { count: groups.length, students: who.length }));
  };
  const nobody = who.length === 0;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-x-6 gap-y-2">
        <Radios
          label={t("divide.how")}
          value={size.by}
          onChange={(by) => set({ by })}
          options={[
            { id: "size", name: t("divide.bySize") },
            { id: "count", name: t("divide.byCount") },
          ]}
        />
        {size.by === "size" ? (
          <Count label={t("divide.size")} minValue={1} maxValue={50} value={size.size} onChange={(value) => Number.isInteger(value) && set({ size: value })} />
        ) : (
          <Count label={t("divide.count")} minValue={1} maxValue={100} value={size.count} onChange={(value) => Number.isInteger(value) && set({ count: value })} />
        )}
      </div>
      <div className="flex flex-wrap gap-x-6">
        {size.by === "size" ? (
          <Check isSelected={size.isEven} onChange={(isEven) => set({ isEven })}>
            {t("divide.even", { size: size.size })}
          </Check>
        ) : null}
        <Check isSelected={isLeftOut} onChange={(value) => onChange({ ...settings, isLeftOut: value })}>
          {t("divide.leaveOut", { count: placed })}
        </Check>
      </div>
      <Wishes students={students} wishes={wishes} onChange={(changed) => onChange({ ...settings, wishes: changed })} />
      <p className="flex flex-wrap items-center gap-2">
        <Button kind="main" data-shuffle isDisabled={nobody} isPending={lots.isPending && lots.variables === "random"} onPress={() => lots.mutate("random")}>
          <Shuffle aria-hidden="true" className="size-4" />
          {t("divide.shuffle")}
        </Button>
        <Button isDisabled={nobody} isPending={lots.isPending && lots.variables === "balanced"} onPress={() => lots.mutate("balanced")}>
          <Users aria-hidden="true" className="size-4" />
          {t("divide.mix")}
        </Button>
        <Button isDisabled={nobody} onPress={byName}>
          <ArrowDownAZ aria-hidden="true" className="size-4" />
          {t("divide.byName")}
        </Button>
        <span className="text-soft text-sm">{nobody ? t(isLeftOut && placed > 0 ? "divide.allPlaced" : "divide.nobody") : t("divide.would", { count, students: who.length })}</span>
      </p>
      {lots.isError ? isAboutWishes(lots.error) ? <p role="alert" className="text-bad">{t("divide.cannot")}</p> : <Problems problem={lots.error} /> : null}
    </div>
  );
}

const isAboutWishes = (problem: unknown): boolean => problem instanceof Problem && problem.details.some((detail) => detail.path.startsWith("keep"));
