import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { fetchFile } from "../submissions/fetchFile";
import { Button } from "../../components/Button";
import { Disclosure } from "../../components/Disclosure";
import { ErrorMessage } from "../../components/ErrorMessage";
import { Skeleton } from "../../components/base/Skeleton";
import { Time } from "../../components/base/Time";
import { GradeHistory } from "./GradeHistory";
import { useGradeText } from "./GradeSummary";
import { attemptsQuery, type Copy, lateness, type Submission } from "./work";

interface Props {
  groupAssignmentId: string;
  maxPoints: number | null;
  nameOf: (userId: string) => string | undefined;
}

/** All submissions of the group, each with its files at that time. */
export function SubmissionHistory({ groupAssignmentId, maxPoints, nameOf }: Props) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const found = useQuery({ ...attemptsQuery(groupAssignmentId), enabled: isOpen });
  return (
    <Disclosure name={t("work.history")} count={found.data?.length} onOpen={setOpen}>
      {found.isPending && isOpen ? <Skeleton count={1} /> : null}
      {found.isError ? <ErrorMessage problem={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.data?.length === 0 ? <p className="text-soft">{t("work.noHistory")}</p> : null}
      <ol className="flex flex-col gap-4">
        {found.data?.map((one) => (
          <AttemptItem key={one.id} attempt={one} maxPoints={maxPoints} nameOf={nameOf} />
        ))}
      </ol>
    </Disclosure>
  );
}

function AttemptItem({ attempt, maxPoints, nameOf }: { attempt: Submission } & Omit<Props, "groupAssignmentId">) {
  const { t } = useTranslation();
  const gradeText = useGradeText();
  const grade = attempt.grade === null ? "" : gradeText(attempt.grade, maxPoints);
  return (
    <li className="flex flex-col gap-1">
      <p>
        <strong>{t("work.attempt", { number: attempt.attempt })}</strong> · {t(`work.attemptState.${attempt.status}`)}
      </p>
      <p className="text-soft text-sm">
        <Time at={attempt.submittedAt} /> · {nameOf(attempt.submittedById) ?? t("work.someone")}
        {attempt.onBehalf ? ` (${t("work.onBehalf")})` : ""} ·{" "}
        {attempt.documents.length === 0 ? t("work.withoutDocuments") : <LatenessBadge attempt={attempt} />}
      </p>
      {attempt.note === null ? null : <q className="break-words">{attempt.note}</q>}
      {grade === "" ? null : (
        <p>
          {t("work.grade")}: {grade}
        </p>
      )}
      {attempt.status === "ACTIVE" ? null : <GradeHistory submission={attempt} maxPoints={maxPoints} nameOf={nameOf} />}
      <ul>
        {attempt.documents.map((copy) => (
          <li key={copy.id} className="flex flex-wrap items-center gap-x-3">
            <span className="min-w-0 break-words">
              {copy.title}.{copy.fileExtension}
            </span>
            <CopyLinks copy={copy} />
          </li>
        ))}
      </ul>
    </li>
  );
}

/** Whether the work was on time, as text. */
export function LatenessBadge({ attempt }: { attempt: Submission }) {
  const { t } = useTranslation();
  if (!attempt.isLate) return <span>{t("work.onTime")}</span>;
  const { unit, count } = lateness(attempt.lateBySeconds);
  return <span className="text-warn font-medium">{t(`work.late.${unit}`, { count })}</span>;
}

/** A submitted copy, and its PDF, which the document server converts on demand. */
export function CopyLinks({ copy }: { copy: Copy }) {
  const { t } = useTranslation();
  const title = `${copy.title}.${copy.fileExtension}`;
  return (
    <span className="flex flex-wrap gap-x-3">
      <a
        href={copy.downloadUrl}
        download
        aria-label={t("work.downloadOf", { title })}
        className="inline-flex min-h-11 items-center"
      >
        {t("work.download")}
      </a>
      {copy.fileExtension === "pdf" ? null : (
        <Button
          kind="quiet"
          className="px-0"
          aria-label={t("work.pdfOf", { title })}
          onPress={() => fetchFile(copy.pdfUrl, `${copy.title}.pdf`)}
        >
          {t("work.pdf")}
        </Button>
      )}
    </span>
  );
}
