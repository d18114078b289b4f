import { useQueries } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { BookOpen, Folder, Users } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { type TreeNode, Tree } from "../../components/Tree";
import { courseQuery as oneCourse, type CourseDetail } from "./courses";
import { type ClassFolder, parseNodeId, nodeIdsOf, type SubjectFolder } from "./folders";
import { numberedName } from "../lesson/groupNames";
import { SubjectDot } from "./CourseRow";
import { type FolderLocation } from "./location";

interface Props {
  folders: readonly ClassFolder[];
  location: FolderLocation;
  /** Number of groups and topics without a course. */
  unassigned: number;
  onLocation: (location: Pick<FolderLocation, "class" | "subject" | "loose">) => void;
}

/** Tree of classes, subjects, courses and groups. Selecting a folder shows it next to the tree; selecting a course or group opens it. */
export function CourseTree({ folders, location, unassigned, onLocation }: Props) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(() => ancestorsOf(location, folders));
  const groups = useGroups(expanded);
  const nodes: TreeNode[] = [
    { id: "all", name: t("courses.all") },
    ...folders.map((folder) => ({
      id: `class:${folder.of.id}`,
      name: folder.of.name,
      note: t("courses.students", { count: folder.of.counts?.students ?? 0 }),
      icon: <Folder aria-hidden="true" className="text-soft size-4 shrink-0" />,
      children: folder.subjects.map((subject) => subjectNode(folder, subject, groups, t("courses.looking"))),
    })),
    ...(unassigned > 0 ? [{ id: "loose", name: t("courses.loose"), note: String(unassigned) }] : []),
  ];
  const choose = (id: string) => {
    const target = parseNodeId(id);
    if ("course" in target) void navigate({ to: "/courses/$courseId", params: { courseId: target.course } });
    else if ("group" in target) void navigate({ to: "/groups/$groupId", params: { groupId: target.group } });
    else {
      setExpanded(new Set([...expanded, id]));
      onLocation(target.location);
    }
  };
  return (
    <Tree
      label={t("courses.tree")}
      nodes={nodes}
      chosen={nodeIdsOf(location)}
      onChoose={choose}
      expanded={expanded}
      onExpandedChange={setExpanded}
    />
  );
}

type Groups = ReadonlyMap<string, CourseDetail | undefined>;

function subjectNode(folder: ClassFolder, subject: SubjectFolder, groups: Groups, looking: string): TreeNode {
  return {
    id: `subject:${folder.of.id}:${subject.id}`,
    name: subject.name,
    icon: <SubjectDot color={subject.color} />,
    ...(subject.courses.length === 0
      ? {}
      : {
          children: subject.courses.map((course) => ({
            id: `course:${course.id}`,
            name: course.name,
            icon: <BookOpen aria-hidden="true" className="text-soft size-4 shrink-0" />,
            ...(course.counts.groups === 0 || folder.of.coTeachers === undefined
              ? {}
              : { children: groupNodes(groups.get(course.id), course.id, looking) }),
          })),
        }),
  };
}

const groupNodes = (found: CourseDetail | undefined, courseId: string, looking: string): TreeNode[] =>
  found === undefined
    ? [{ id: `course:${courseId}:wait`, name: looking }]
    : found.groups.map((group) => ({
        id: `group:${group.id}`,
        name: numberedName(group),
        icon: <Users aria-hidden="true" className="text-soft size-4 shrink-0" />,
      }));

/** The groups of the expanded courses. */
function useGroups(expanded: ReadonlySet<string>): Groups {
  const ids = [...expanded].filter((line) => line.startsWith("course:")).map((line) => line.split(":")[1] ?? "");
  const queries = useQueries({ queries: ids.map((id) => oneCourse(id)) });
  return new Map(ids.map((id, index) => [id, queries[index]?.data]));
}

/** Initially expanded nodes: the ancestors of the location, and a class that is the only one. */
function ancestorsOf(location: FolderLocation, folders: readonly ClassFolder[]): Set<string> {
  const within = location.class ?? (folders.length === 1 ? folders[0]?.of.id : undefined);
  if (within === undefined) return new Set();
  return new Set([
    `class:${within}`,
    ...(location.subject === undefined ? [] : [`subject:${within}:${location.subject}`]),
  ]);
}
