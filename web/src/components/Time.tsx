import { useTime } from "../i18n/time";

/** A moment in words: today's by its time, others by day and time. */
export function Time({ at }: { at: string }) {
  const { moment, full } = useTime();
  return (
    <time dateTime={at} title={full(at)}>
      {moment(at)}
    </time>
  );
}
