import { useTranslation } from "react-i18next";

import { Select } from "../../forms/Select";
import { TextField } from "../../forms/TextField";
import { DateTimeField } from "../../forms/DateTimeField";
import { RadioGroup } from "../../forms/RadioGroup";
import type { CourseDetail } from "./courseGroups";

export interface NewGroupSettings {
  scheme: string;
  starts: "now" | "later";
  /** ISO 8601; null while nothing is selected. */
  start: string | null;
  topicId: string;
}

/** Value of the option without a topic. */
export const WITHOUT_TOPIC = "none";

interface Props {
  course: CourseDetail;
  details: NewGroupSettings;
  onChange: (details: NewGroupSettings) => void;
  problem: string | undefined;
}

/** Names, start date and topic of the new groups. */
export function NewGroupFields({ course, details, onChange, problem }: Props) {
  const { t } = useTranslation();
  const set = (change: Partial<NewGroupSettings>) => onChange({ ...details, ...change });
  const topics = course.assignments.flatMap((topic) =>
    topic.status === "ACTIVE" ? [{ id: topic.id, name: topic.title }] : [],
  );
  return (
    <div className="grid items-start gap-x-6 gap-y-2 sm:grid-cols-2 lg:grid-cols-[15rem_auto_minmax(0,20rem)_minmax(0,24rem)]">
      <TextField
        label={t("divide.scheme")}
        hint={t("divide.schemeHint")}
        value={details.scheme}
        onChange={(scheme) => set({ scheme })}
        maxLength={70}
      />
      <RadioGroup
        label={t("divide.starts")}
        value={details.starts}
        onChange={(starts) => set({ starts })}
        options={[
          { id: "now", name: t("divide.now") },
          { id: "later", name: t("divide.later") },
        ]}
      />
      {details.starts === "later" ? (
        <DateTimeField
          label={t("divide.start")}
          hint={t("divide.startHint")}
          value={details.start}
          onChange={(start) => set({ start })}
          problem={problem}
        />
      ) : null}
      <Select
        label={t("divide.topic")}
        options={[{ id: WITHOUT_TOPIC, name: t("divide.noTopic") }, ...topics]}
        value={details.topicId}
        onChange={(topicId) => set({ topicId })}
      />
    </div>
  );
}
