import { fromDate, type ZonedDateTime } from "@internationalized/date";
import { CalendarDays, ChevronLeft, ChevronRight } from "lucide-react";
import {
  Button,
  Calendar,
  CalendarCell,
  CalendarGrid,
  DateInput,
  DatePicker,
  DateSegment,
  Dialog,
  FieldError,
  Group,
  Heading,
  Label,
  Popover,
  Text,
  I18nProvider,
} from "react-aria-components";

import { serverNow } from "../hooks/serverClock";
import { useTime } from "../i18n/time";
import { BOX, POPOVER, invalidProps } from "../components/base/fieldStyles";

interface Props {
  label: string;
  /** ISO 8601; null for none. */
  value: string | null;
  onChange: (iso: string | null) => void;
  problem?: string | undefined;
  hint?: string;
  isRequired?: boolean;
  isDisabled?: boolean;
}

const SQUARE = "inline-flex size-11 cursor-pointer items-center justify-center rounded-lg";

/** Date and time field in the school's time zone, which is shown next to it; typed by segments or picked from a calendar. */
export function DateTimeField({
  label,
  value,
  onChange,
  problem,
  hint,
  isRequired = false,
  isDisabled = false,
}: Props) {
  const { zone, language } = useTime();
  const shown: ZonedDateTime | null = value === null ? null : fromDate(new Date(value), zone);
  return (
    <I18nProvider locale={language === "en" ? "en-GB" : language}>
      <DatePicker
        value={shown}
        // Hidden seconds would otherwise be those of the moment the field was opened.
        onChange={(moment: ZonedDateTime | null) =>
          onChange(moment === null ? null : moment.set({ second: 0, millisecond: 0 }).toDate().toISOString())
        }
        granularity="minute"
        hideTimeZone
        hourCycle={24}
        shouldForceLeadingZeros
        {...invalidProps(problem)}
        isRequired={isRequired}
        isDisabled={isDisabled}
        className="flex min-w-0 flex-col gap-1"
        {...(shown === null ? { placeholderValue: fromDate(new Date(serverNow()), zone) } : {})}
      >
        <Label className="font-medium">{label}</Label>
        <Group className="flex gap-2">
          <DateInput className={`${BOX} inline-flex items-center`}>
            {(segment) => (
              <DateSegment
                segment={segment}
                className="data-placeholder:text-soft focus:bg-accent focus:text-on-accent rounded px-0.5 tabular-nums outline-none"
              />
            )}
          </DateInput>
          <Button className={`${SQUARE} border-line bg-sheet border`}>
            <CalendarDays aria-hidden="true" className="size-5" />
          </Button>
        </Group>
        <Text slot="description" className="text-soft text-sm">
          {[zone, hint].filter(Boolean).join(" · ")}
        </Text>
        <FieldError className="text-bad text-sm">{problem}</FieldError>
        <Popover className={POPOVER}>
          <Dialog className="p-2 outline-none">
            <Calendar>
              <header className="flex items-center justify-between">
                <Button slot="previous" className={SQUARE}>
                  <ChevronLeft aria-hidden="true" className="size-5" />
                </Button>
                <Heading className="font-semibold" />
                <Button slot="next" className={SQUARE}>
                  <ChevronRight aria-hidden="true" className="size-5" />
                </Button>
              </header>
              <CalendarGrid>
                {(date) => (
                  <CalendarCell
                    date={date}
                    className="data-selected:bg-accent data-selected:text-on-accent hover:bg-faint data-outside-month:hidden inline-flex size-10 cursor-pointer items-center justify-center rounded-lg"
                  />
                )}
              </CalendarGrid>
            </Calendar>
          </Dialog>
        </Popover>
      </DatePicker>
    </I18nProvider>
  );
}
