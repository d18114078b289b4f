import { Link } from "@tanstack/react-router";
import { Users } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { isManaged } from "../classes/classes";
import { buttonClass, Button } from "../../components/Button";
import { Badge } from "../../components/base/Badge";
import { EmptyState } from "../../components/base/EmptyState";
import { CourseDialog } from "./CourseDialog";
import { type ClassFolder, coursesAt } from "./folders";
import { CourseRow } from "./CourseRow";
import { Breadcrumbs } from "./Breadcrumbs";
import { type FolderLocation } from "./location";

interface Props {
  folders: readonly ClassFolder[];
  subjects: readonly { id: string; name: string }[];
  location: FolderLocation;
  /** Number of groups and topics without a course. */
  unassigned: number;
}

/** Content of the selected folder: breadcrumbs, subfolders (on screens without the tree) and courses. */
export function CourseFolder({ folders, subjects, location, unassigned }: Props) {
  const { t } = useTranslation();
  const folder = folders.find((one) => one.of.id === location.class);
  const subject =
    folder?.subjects.find((one) => one.id === location.subject) ?? subjects.find((one) => one.id === location.subject);
  const courses = coursesAt(folders, location);
  const title = subject?.name ?? folder?.of.name ?? t("courses.all");
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-3">
      {folder || subject ? (
        <Breadcrumbs steps={breadcrumbsTo(location, folder, subject !== undefined, t("courses.all"))} />
      ) : null}
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="me-auto">{title}</h2>
        {folder && subject === undefined ? <ClassNotice folder={folder} /> : null}
      </div>
      {location.subject === undefined ? (
        <Subfolders folders={folders} folder={folder} location={location} unassigned={unassigned} />
      ) : null}
      {courses.length === 0 ? (
        <EmptyFolder folder={folder} subject={subject} location={location} />
      ) : (
        <ul className="flex flex-col gap-2">
          {courses.map((course) => {
            const within = folders.find((one) => one.of.id === course.classId);
            return (
              <CourseRow
                key={course.id}
                course={course}
                hasClass={folder === undefined}
                isManaged={within !== undefined && isManaged(within.of) && within.of.status !== "ARCHIVED"}
              />
            );
          })}
        </ul>
      )}
    </section>
  );
}

/** Breadcrumbs to this folder. */
function breadcrumbsTo(location: FolderLocation, folder: ClassFolder | undefined, hasSubject: boolean, all: string) {
  const { class: _class, subject: _subject, ...rest } = location;
  return [
    { name: all, location: rest },
    ...(folder && hasSubject ? [{ name: folder.of.name, location: { ...rest, class: folder.of.id } }] : []),
  ];
}

function ClassNotice({ folder }: { folder: ClassFolder }) {
  const { t } = useTranslation();
  return (
    <>
      {folder.of.status === "ACTIVE" ? null : <Badge>{t(`classes.status.${folder.of.status}`)}</Badge>}
      <Link to="/classes/$classId" params={{ classId: folder.of.id }} className={buttonClass()}>
        <Users aria-hidden="true" className="size-4" />
        {t("courses.openClass", { name: folder.of.name })}
      </Link>
    </>
  );
}

/** Subfolders, for screens without the tree. */
function Subfolders({
  folders,
  folder,
  location,
  unassigned,
}: {
  folders: readonly ClassFolder[];
  folder: ClassFolder | undefined;
  location: FolderLocation;
  unassigned: number;
}) {
  const { t } = useTranslation();
  const rows: { key: string; name: string; count: number; search: FolderLocation }[] = folder
    ? folder.subjects.map((subject) => ({
        key: subject.id,
        name: subject.name,
        count: subject.courses.length,
        search: { ...location, subject: subject.id },
      }))
    : folders.map((one) => ({
        key: one.of.id,
        name: one.of.name,
        count: one.subjects.reduce((sum, subject) => sum + subject.courses.length, 0),
        search: { ...location, class: one.of.id },
      }));
  if (folder === undefined && unassigned > 0)
    rows.push({ key: "loose", name: t("courses.loose"), count: unassigned, search: { loose: true } });
  if (rows.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 lg:hidden">
      {rows.map((line) => (
        <li key={line.key}>
          <Link to="/courses" search={line.search} activeOptions={{ exact: true }} className={buttonClass()}>
            {line.name} <span className="text-soft font-normal tabular-nums">{line.count}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function EmptyFolder({
  folder,
  subject,
  location,
}: {
  folder: ClassFolder | undefined;
  subject: { id: string; name: string } | undefined;
  location: FolderLocation;
}) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  const where = [folder?.of.name, subject?.name].filter(Boolean).join(" / ");
  const text =
    location.status === "ARCHIVED"
      ? t("courses.noneArchived")
      : where === ""
        ? t("courses.none")
        : t("courses.noneIn", { where });
  const canAdd =
    location.status !== "ARCHIVED" &&
    (folder === undefined || (isManaged(folder.of) && folder.of.status !== "ARCHIVED"));
  return (
    <>
      <EmptyState action={canAdd ? <Button onPress={() => setIsOpen(true)}>{t("courses.newHere")}</Button> : undefined}>
        {text}
      </EmptyState>
      {isOpen ? (
        <CourseDialog classId={folder?.of.id} subjectId={subject?.id} onClose={() => setIsOpen(false)} />
      ) : null}
    </>
  );
}
