import { useTime } from "../../i18n/time";

/** A moment as text: the time for today, else date and time. */
export function Time({ at }: { at: string }) {
  const { moment, full } = useTime();
  return (
    <time dateTime={at} title={full(at)}>
      {moment(at)}
    </time>
  );
}
