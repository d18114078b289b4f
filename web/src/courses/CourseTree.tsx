import { useQueries } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { BookOpen, Folder, Users } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { type Branch, Branches } from "../ui/Branches";
import { course as oneCourse, type CourseDetail } from "./courses";
import { type ClassFolder, leadsTo, lineOf, type Place, type SubjectFolder } from "./folders";
import { Dot } from "./Line";

interface Props {
  found: readonly ClassFolder[];
  place: Place;
  /** How many groups and topics belong to no course. */
  loose: number;
  onPlace: (place: Pick<Place, "class" | "subject" | "loose">) => void;
}

/** Class, subject, course, groups: one tree. What is chosen in it is shown beside it; a course or a group is opened. */
export function CourseTree({ found, place, loose, onPlace }: Props) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => around(place, found));
  const groups = useGroups(opened);
  const branches: Branch[] = [
    { id: "all", name: t("courses.all") },
    ...found.map((folder) => ({
      id: `class:${folder.of.id}`,
      name: folder.of.name,
      note: t("courses.students", { count: folder.of.counts?.students ?? 0 }),
      icon: <Folder aria-hidden="true" className="text-soft size-4 shrink-0" />,
      below: folder.subjects.map((subject) => subjectBranch(folder, subject, groups, t("courses.looking"))),
    })),
    ...(loose > 0 ? [{ id: "loose", name: t("courses.loose"), note: String(loose) }] : []),
  ];
  const choose = (line: string) => {
    const goal = leadsTo(line);
    if ("course" in goal) void navigate({ to: "/courses/$courseId", params: { courseId: goal.course } });
    else if ("group" in goal) void navigate({ to: "/g/$groupId", params: { groupId: goal.group } });
    else {
      setOpened(new Set([...opened, line]));
      onPlace(goal.place);
    }
  };
  return <Branches label={t("courses.tree")} branches={branches} chosen={lineOf(place)} onChoose={choose} opened={opened} onOpened={setOpened} />;
}

type Groups = ReadonlyMap<string, CourseDetail | undefined>;

function subjectBranch(folder: ClassFolder, subject: SubjectFolder, groups: Groups, looking: string): Branch {
  return {
    id: `subject:${folder.of.id}:${subject.id}`,
    name: subject.name,
    icon: <Dot color={subject.color} />,
    ...(subject.courses.length === 0
      ? {}
      : {
          below: subject.courses.map((course) => ({
            id: `course:${course.id}`,
            name: course.name,
            icon: <BookOpen aria-hidden="true" className="text-soft size-4 shrink-0" />,
            ...(course.counts.groups === 0 || folder.of.coTeachers === undefined ? {} : { below: groupBranches(groups.get(course.id), course.id, looking) }),
          })),
        }),
  };
}

const groupBranches = (found: CourseDetail | undefined, courseId: string, looking: string): Branch[] =>
  found === undefined
    ? [{ id: `course:${courseId}:wait`, name: looking }]
    : found.groups.map((group) => ({
        id: `group:${group.id}`,
        name: `${group.groupNumber} ${group.displayName ?? group.name}`,
        icon: <Users aria-hidden="true" className="text-soft size-4 shrink-0" />,
      }));

/** The groups of the courses whose branches are open. */
function useGroups(opened: ReadonlySet<string>): Groups {
  const ids = [...opened].filter((line) => line.startsWith("course:")).map((line) => line.split(":")[1] ?? "");
  const answers = useQueries({ queries: ids.map((id) => oneCourse(id)) });
  return new Map(ids.map((id, index) => [id, answers[index]?.data]));
}

/** The lines that are open at first: those that lead to the place, and a class that is the only one. */
function around(place: Place, found: readonly ClassFolder[]): Set<string> {
  const within = place.class ?? (found.length === 1 ? found[0]?.of.id : undefined);
  if (within === undefined) return new Set();
  return new Set([`class:${within}`, ...(place.subject === undefined ? [] : [`subject:${within}:${place.subject}`])]);
}
