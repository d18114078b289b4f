import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { foldCase } from "../../i18n/names";
import { ComboBox } from "../../forms/ComboBox";
import { coursesQuery } from "./courses";
import { isArchived } from "./folders";

/** Searches a course of the school by name and opens it. */
export function CourseSearch() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const found = useQuery(coursesQuery);
  const wanted = foldCase(typed);
  const options = (found.data ?? [])
    .filter((course) => foldCase(course.name).includes(wanted))
    .slice(0, 50)
    .map((course) => ({
      id: course.id,
      name: course.name,
      note: [course.class.name, course.subject.name, isArchived(course) ? t("courses.archived") : ""]
        .filter(Boolean)
        .join(" · "),
    }));
  return (
    <ComboBox
      label={t("courses.find")}
      input={typed}
      onInput={setTyped}
      options={options}
      none={found.isPending ? t("courses.looking") : found.isError ? t("problem.OFFLINE") : t("courses.notFound")}
      onPick={(courseId) => void navigate({ to: "/courses/$courseId", params: { courseId } })}
    />
  );
}
