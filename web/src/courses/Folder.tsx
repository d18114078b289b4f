import { Link } from "@tanstack/react-router";
import { Users } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { isManaged } from "../classes/classes";
import { asButton, Button } from "../ui/Button";
import { Chip } from "../ui/Chip";
import { Empty } from "../ui/Empty";
import { CourseWindow } from "./CourseWindow";
import type { Subject } from "./courses";
import { type ClassFolder, coursesIn, type Place } from "./folders";
import { Line } from "./Line";
import { Way } from "./Way";

interface Props {
  found: readonly ClassFolder[];
  subjects: readonly Subject[];
  place: Place;
  /** How many groups and topics belong to no course. */
  loose: number;
}

/** What is in the chosen folder: the way to it, the folders below (where no tree stands beside it), its courses. */
export function Folder({ found, subjects, place, loose }: Props) {
  const { t } = useTranslation();
  const folder = found.find((one) => one.of.id === place.class);
  const subject = folder?.subjects.find((one) => one.id === place.subject) ?? subjects.find((one) => one.id === place.subject);
  const courses = coursesIn(found, place);
  const title = subject?.name ?? folder?.of.name ?? t("courses.all");
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-3">
      {folder || subject ? <Way steps={stepsTo(place, folder, subject !== undefined, t("courses.all"))} /> : null}
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="me-auto">{title}</h2>
        {folder && subject === undefined ? <AboutClass folder={folder} /> : null}
      </div>
      {place.subject === undefined ? <Below found={found} folder={folder} place={place} loose={loose} /> : null}
      {courses.length === 0 ? (
        <Nothing folder={folder} subject={subject} place={place} />
      ) : (
        <ul className="flex flex-col gap-2">
          {courses.map((course) => {
            const within = found.find((one) => one.of.id === course.classId);
            return <Line key={course.id} course={course} hasClass={folder === undefined} isManaged={within !== undefined && isManaged(within.of) && within.of.status !== "ARCHIVED"} />;
          })}
        </ul>
      )}
    </section>
  );
}

/** The places on the way to this folder. */
function stepsTo(place: Place, folder: ClassFolder | undefined, hasSubject: boolean, all: string) {
  const { class: _class, subject: _subject, ...rest } = place;
  return [{ name: all, place: rest }, ...(folder && hasSubject ? [{ name: folder.of.name, place: { ...rest, class: folder.of.id } }] : [])];
}

function AboutClass({ folder }: { folder: ClassFolder }) {
  const { t } = useTranslation();
  return (
    <>
      {folder.of.status === "ACTIVE" ? null : <Chip>{t(`classes.status.${folder.of.status}`)}</Chip>}
      <Link to="/classes/$classId" params={{ classId: folder.of.id }} className={asButton()}>
        <Users aria-hidden="true" className="size-4" />
        {t("courses.openClass", { name: folder.of.name })}
      </Link>
    </>
  );
}

/** The folders in this one, for screens without the tree. */
function Below({ found, folder, place, loose }: { found: readonly ClassFolder[]; folder: ClassFolder | undefined; place: Place; loose: number }) {
  const { t } = useTranslation();
  const lines: { key: string; name: string; count: number; search: Place }[] = folder
    ? folder.subjects.map((subject) => ({ key: subject.id, name: subject.name, count: subject.courses.length, search: { ...place, subject: subject.id } }))
    : found.map((one) => ({
        key: one.of.id,
        name: one.of.name,
        count: one.subjects.reduce((sum, subject) => sum + subject.courses.length, 0),
        search: { ...place, class: one.of.id },
      }));
  if (folder === undefined && loose > 0) lines.push({ key: "loose", name: t("courses.loose"), count: loose, search: { loose: true } });
  if (lines.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 lg:hidden">
      {lines.map((line) => (
        <li key={line.key}>
          <Link to="/courses" search={line.search} activeOptions={{ exact: true }} className={asButton()}>
            {line.name} <span className="text-soft font-normal tabular-nums">{line.count}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Nothing({ folder, subject, place }: { folder: ClassFolder | undefined; subject: { id: string; name: string } | undefined; place: Place }) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  const where = [folder?.of.name, subject?.name].filter(Boolean).join(" / ");
  const words = place.status === "ARCHIVED" ? t("courses.noneArchived") : where === "" ? t("courses.none") : t("courses.noneIn", { where });
  const mayAdd = place.status !== "ARCHIVED" && (folder === undefined || (isManaged(folder.of) && folder.of.status !== "ARCHIVED"));
  return (
    <>
      <Empty action={mayAdd ? <Button onPress={() => setIsOpen(true)}>{t("courses.newHere")}</Button> : undefined}>{words}</Empty>
      {isOpen ? <CourseWindow classId={folder?.of.id} subjectId={subject?.id} onClose={() => setIsOpen(false)} /> : null}
    </>
  );
}

